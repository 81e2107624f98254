
-- From here on nothing depends on a protocol: the tables above say what there is to read.

local ip_protocols = DissectorTable.get("ip.proto")
local udp_ports = DissectorTable.get("udp.port")

-- Each protocol with its fields; a field's filter name is PROTOCOL.MESSAGE.FIELD.
local function register(protocol)
    local proto = Proto(protocol.filter, protocol.title)
    local fields = {}
    local function field(filter, title, kind, values)
        if fields[filter] then
            return
        end
        local made
        if kind == "address" then
            made = ProtoField.ipv4(filter, title)
        elseif kind == "flag" then
            made = ProtoField.bool(filter, title)
        elseif kind == "octets" then
            made = ProtoField.bytes(filter, title)
        elseif kind == "scaled" then
            made = ProtoField.double(filter, title)
        elseif kind == "text" then
            made = ProtoField.string(filter, title)
        else
            made = ProtoField.uint32(filter, title, base.DEC, values)
        end
        fields[filter] = made
    end
    local function walk(prefix, items)
        for _, item in ipairs(items) do
            if item.key then
                field(prefix .. item.key, item.title, item.is, item.values)
            end
            for _, part in ipairs(item.parts or {}) do
                field(prefix .. part.key, part.title, part.is)
            end
            walk(prefix, item.each or {})
            for _, case in pairs(item.cases or {}) do
                walk(prefix, case)
            end
        end
    end
    field(protocol.filter .. ".type", "Type", "text")
    field(protocol.filter .. ".cut", "Not captured whole", "flag")
    walk(protocol.filter .. ".", protocol.header or {})
    for _, message in ipairs(protocol.messages) do
        walk(protocol.filter .. "." .. message.name .. ".", message.fields)
    end
    for _, extension in pairs(protocol.extensions or {}) do
        walk(protocol.filter .. "." .. extension.name .. ".", extension.fields)
    end
    if protocol.state then
        walk(protocol.filter .. "." .. protocol.state.name .. ".", protocol.state.fields)
    end
    local list = {}
    for _, made in pairs(fields) do
        list[#list + 1] = made
    end
    proto.fields = list
    local malformed = ProtoExpert.new(protocol.filter .. ".malformed", "Contradicts its format",
        expert.group.MALFORMED, expert.severity.ERROR)
    proto.experts = { malformed }
    return { proto = proto, fields = fields, malformed = malformed, filter = protocol.filter }
end

local function value_of(item, range)
    if item.is == "scaled" then
        local number
        if item.octets == 8 then
            number = item.signed and range:int64():tonumber() or range:uint64():tonumber()
        else
            number = item.signed and range:int() or range:uint()
        end
        return number * item.unit
    end
    return range:uint()
end

-- Reads items from `at` to `stop` of a buffer; gives where it ended, or nil where octets are missing.
local function read(as, tree, tvb, prefix, items, at, stop)
    local seen = {}
    for _, item in ipairs(items) do
        if item.is == "skip" then
            at = at + item.octets
        elseif item.each then
            local count = item.count and seen[item.count]
            while at < stop - item.before and (not count or count > 0) do
                at = read(as, tree, tvb, prefix, item.each, at, stop - item.before)
                if not at then
                    return nil
                end
                count = count and count - 1
            end
            if count and count > 0 then
                return nil
            end
        elseif item.cases then
            at = read(as, tree, tvb, prefix, item.cases[seen[item.on]] or item.default, at, stop)
            if not at then
                return nil
            end
        elseif item.is == "octets" then
            local length = item.octets or (stop - at - (item.before or 0))
            if length < 0 or at + length > stop then
                return nil
            end
            if length > 0 then
                tree:add(as.fields[prefix .. item.key], tvb(at, length))
            end
            at = at + length
        elseif at + item.octets > stop then
            if not item.optional then
                return nil
            end
        elseif item.parts then
            local range = tvb(at, item.octets)
            for _, part in ipairs(item.parts) do
                local value = math.floor(range:uint() / part.unit) % part.modulus
                if part.is == "flag" then
                    value = value ~= 0
                end
                tree:add(as.fields[prefix .. part.key], range, value)
            end
            at = at + item.octets
        else
            local range = tvb(at, item.octets)
            if item.is == "address" then
                tree:add(as.fields[prefix .. item.key], range)
            else
                local value = value_of(item, range)
                seen[item.key] = value
                tree:add(as.fields[prefix .. item.key], range, value)
            end
            at = at + item.octets
        end
        if at > stop then
            return nil
        end
    end
    return at
end

-- Octets that a message needs before its list.
local function before_list(items)
    local octets = 0
    for _, item in ipairs(items) do
        if item.each then
            return octets
        end
        octets = octets + (item.octets or 0)
    end
    return nil
end

-- One message at `at`, whose body fills the octets up to `stop`; `captured` may end before.
local function message(as, tree, tvb, found, start, at, stop, captured)
    local shown = math.min(stop, captured)
    local item = tree:add(as.proto, tvb(start, shown - start), found.title)
    item:add(as.fields[as.filter .. ".type"], tvb(start, shown - start), found.name)
    local last, items = stop, found.fields
    if stop > captured then
        item:add(as.fields[as.filter .. ".cut"], tvb(start, shown - start), true)
        local head = before_list(items)
        if not head or captured - at < head then
            return
        end
        local size = 0
        for _, part in ipairs(items[#items].each or {}) do
            size = size + part.octets
        end
        last = at + head + (size > 0 and math.floor((captured - at - head) / size) * size or 0)
    end
    if not read(as, item, tvb, as.filter .. "." .. found.name .. ".", items, at, last) then
        item:add_proto_expert_info(as.malformed)
    end
end

local auth = register(authentication)

-- The block that authenticates octets `from` to `stop`, and where it begins, with its mark.
local function block_of(tvb, carrier, from, stop)
    local function at(start)
        for k = 1, #carrier.mark do
            if tvb(start + k - 1, 1):uint() ~= carrier.mark[k] then
                return nil
            end
        end
        local head = start + #carrier.mark
        if head + 4 > stop or tvb(head, 1):uint() ~= carrier.block
            or tvb(head + 1, 1):uint() + 2 ~= stop - head then
            return nil
        end
        return head, tvb(head + 3, 1):uint()
    end
    if stop - from >= authentication.shortest + #carrier.mark then
        local head, kind = at(from)
        if head and kind == 1 then
            return head, from
        end
        local start = stop - authentication.shortest - #carrier.mark
        head, kind = at(start)
        if head and kind == 0 then
            return head, start
        end
    end
    return nil
end

local function show_block(tree, tvb, head, stop)
    message(auth, tree, tvb, authentication.messages[1], head, head + 2, stop, stop)
end

-- What a packet carries, octets `from` to `to`. A buffer made here forgets that its end was not captured, and Wireshark would
-- call the rest too short: of that only the ports are shown.
local function carried(tvb, from, to, is_cut, next_header, pinfo, root)
    if from >= to then
        return
    end
    local rest = tvb(from, to - from):tvb()
    if not is_cut then
        ip_protocols:try(next_header, rest, pinfo, root)
        return
    end
    if (next_header == 6 or next_header == 17) and rest:len() >= 4 then
        local name = next_header == 6 and "TCP" or "UDP"
        pinfo.cols.info:append(string.format(", %s %d to %d (not captured whole)", name, rest(0, 2):uint(), rest(2, 2):uint()))
    end
    Dissector.get("data"):call(rest, pinfo, root)
end

-- A protocol whose packets are a header and options (IP protocol).
local function options_protocol(protocol)
    local as = register(protocol)
    local builtin = ip_protocols:get_dissector(protocol.number)

    local function option_at(tvb, at, captured, stop)
        local kind = tvb(at, 1):uint()
        if kind == protocol.padding_of_one then
            return kind, at + 1, at + 1
        end
        if at + 1 >= captured then
            return kind, at + 1, nil
        end
        return kind, at + 2, at + 2 + tvb(at + 1, 1):uint()
    end

    local function find(tvb, kind, body, stop, captured)
        local unknown
        for _, known in ipairs(protocol.messages) do
            if known.kind == kind then
                local fits = not known.subtype
                if known.subtype and stop <= captured and stop - body >= 2 then
                    local length = stop - body
                    fits = tvb(body, 1):uint() == known.subtype
                        and (not known.length or length == known.length)
                        and (not known.entry or (length - 2) % known.entry == 0)
                end
                if fits then
                    return known
                end
            elseif not known.kind then
                unknown = known
            end
        end
        return unknown
    end

    -- Whether the program's own dissector can read all of it; gives the list of options, too.
    local function survey(tvb, from, stop, captured)
        local list, plain, at = {}, true, from
        while at < math.min(stop, captured) do
            local kind, body, last = option_at(tvb, at, captured, stop)
            if not last or last > stop then
                list[#list + 1] = { kind = kind, start = at, body = body, stop = stop, broken = true }
                return list, plain and protocol.builtin[kind] == true
            end
            plain = plain and protocol.builtin[kind] == true
            if not protocol.padding[kind] then
                list[#list + 1] = { kind = kind, start = at, body = body, stop = last }
            end
            at = last
        end
        return list, plain
    end

    function as.proto.dissector(tvb, pinfo, root)
        local captured, whole = tvb:len(), tvb:reported_len()
        local top = root:add(as.proto, tvb(0, math.min(captured, 4)))
        local at, titles = 0, {}
        if captured >= 4 and tvb(1, 1):uint() >= 128 then
            titles[1] = protocol.state.title
            message(as, top, tvb, protocol.state, 0, 0, 4, captured)
            -- There the block is behind the whole packet.
            local head, start = block_of(tvb, protocol, 4, captured)
            if head and captured == whole then
                show_block(root, tvb, head, captured)
                captured, whole = start, start
            end
            if tvb(0, 1):uint() ~= protocol.number then
                if builtin and not head then
                    builtin:call(tvb, pinfo, root)
                else
                    pinfo.cols.protocol = protocol.title
                    pinfo.cols.info = titles[1] .. ", " .. authentication.title
                    carried(tvb, 4, captured, captured < whole, tvb(0, 1):uint(), pinfo, root)
                end
                return tvb:len()
            end
            at = 4
        end
        if captured < at + 4 then
            top:add(as.fields[as.filter .. ".cut"], tvb(0, captured), true)
            return tvb:len()
        end
        read(as, top, tvb, as.filter .. ".", protocol.header, at, at + 4)
        local next_header, length = tvb(at, 1):uint(), tvb(at + 2, 2):uint()
        local from, stop = at + 4, at + 4 + length
        local head, block
        if stop <= captured then
            head, block = block_of(tvb, protocol, from, stop)
        elseif stop > whole then
            top:add_proto_expert_info(as.malformed)
            stop = whole
        end
        local options, plain = survey(tvb, from, block or stop, captured)
        plain = plain and not head and at == 0
        -- What Wireshark's own dissector reads, it shows, and what the packet carries, too.
        if plain and builtin then
            builtin:call(tvb, pinfo, root)
        end
        for _, o in ipairs(options) do
            local known = find(tvb, o.kind, o.body, o.stop, captured)
            titles[#titles + 1] = known.title
            local last = o.broken and math.max(o.stop, captured + 1) or o.stop
            if o.broken and stop <= captured then
                top:add(as.proto, tvb(o.start), known.title):add_proto_expert_info(as.malformed)
            else
                message(as, top, tvb, known, o.start, known.kind and o.body or o.start, last, captured)
            end
        end
        if head then
            titles[#titles + 1] = authentication.title
            show_block(root, tvb, head, stop)
        end
        top:append_text(": " .. table.concat(titles, ", "))
        if not (plain and builtin) then
            pinfo.cols.protocol = protocol.title
            pinfo.cols.info = table.concat(titles, ", ")
            if next_header ~= protocol.nothing then
                carried(tvb, stop, captured, captured < whole, next_header, pinfo, root)
            end
        end
        return tvb:len()
    end
    ip_protocols:add(protocol.number, as.proto)
end

-- A protocol whose packets are datagrams of a UDP port, with a message and perhaps a block behind it.
local function datagram_protocol(protocol)
    local as = register(protocol)
    local builtin = udp_ports:get_dissector(protocol.number)

    -- Shows the extensions behind a message; gives where they begin, if Wireshark's own dissector cannot read them.
    local function extensions(tvb, root, stop)
        local length = protocol.lengths[tvb(0, 1):uint()]
        if type(length) == "table" then
            length = stop > length.count and length.head + length.entry * tvb(length.count, 1):uint()
        end
        local at, strange = length or stop, false
        while at + 2 <= stop do
            local last = at + 2 + tvb(at + 1, 1):uint()
            if last > stop then
                return nil
            end
            local shown = protocol.extensions[tvb(at, 1):uint()]
            strange = strange or not shown
            message(as, root, tvb, shown or protocol.extensions[0], at, at, last, stop)
            at = last
        end
        return strange and length or nil
    end

    function as.proto.dissector(tvb, pinfo, root)
        local captured, whole = tvb:len(), tvb:reported_len()
        local head, stop = nil, whole
        if captured == whole then
            local start
            head, start = block_of(tvb, protocol, 0, captured)
            stop = start or stop
        end
        local titles = {}
        if stop > 0 and captured > 0 then
            if #protocol.messages > 0 then
                pinfo.cols.protocol = protocol.title
                titles[1] = protocol.messages[1].title
                message(as, root, tvb, protocol.messages[1], 0, 0, stop, math.min(captured, stop))
            elseif builtin then
                local last = captured == whole and protocol.lengths and extensions(tvb, root, stop)
                last = last or head and stop
                builtin:call(last and tvb(0, last):tvb() or tvb, pinfo, root)
            end
        end
        if head then
            pinfo.cols.protocol = protocol.title
            show_block(root, tvb, head, captured)
            titles[#titles + 1] = authentication.title
        end
        if protocol.messages[1] then
            pinfo.cols.info = table.concat(titles, ", ")
        elseif head then
            pinfo.cols.info:append(", " .. authentication.title)
        end
        return tvb:len()
    end
    udp_ports:add(protocol.number, as.proto)
end

for _, protocol in ipairs(protocols) do
    if protocol.over == "ip" then
        options_protocol(protocol)
    else
        datagram_protocol(protocol)
    end
end
