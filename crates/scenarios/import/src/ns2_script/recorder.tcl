# Runs an ns-2 script without a single packet, and writes what it makes: nodes and their moves, traffic, settings.
# usage: ns recorder.tcl OUTPUT SCRIPT [ARGUMENT...]
#
# ns-2 builds the script's objects as ever. Only time is this file's own: what the script schedules is carried out in order
# of time, as the scheduler would, but nothing else happens in between. OUTPUT gets a line for each finding:
#   M LINE           a line of a movement file
#   T LINE           a line of a traffic file
#   S NAME VALUE     a setting
#   N TEXT           something that is left out
#   E LINE TEXT      the script failed, on this line
namespace eval ::wayhop {
    variable now 0.0
    variable running 0
    variable events
    variable serial 0
    variable most_events 2000000
    variable out [open [lindex $argv 0] w]
    variable script [file normalize [lindex $argv 1]]
    variable folder [file dirname $script]
    variable ended {}
    variable placed
    variable starts {}
    variable peer
    variable config
    variable left
    array set events {}
    array set placed {}
    array set peer {}
    array set config {}
    array set left {}
    # Variables of a class of senders or sinks that a traffic file may set.
    variable kept {
        Application/Traffic/CBR {packetSize_ rate_ random_ maxpkts_}
        Application/Traffic/Exponential {packetSize_ rate_ burst_time_ idle_time_}
        Application/Traffic/Pareto {packetSize_ rate_ burst_time_ idle_time_ shape_}
        Application/FTP {}
        Agent/UDP {packetSize_}
        Agent/TCP {packetSize_ window_ maxcwnd_ windowInit_ tcpTick_ minrto_ maxrto_ rtxcur_init_ singledup_ syn_}
        Agent/TCPSink {interval_}
    }
    variable senders {Agent/UDP Agent/TCP Agent/TCP/Reno Agent/TCP/Newreno Agent/TCP/Sack1 Agent/TCP/Vegas}
    variable sinks {Agent/Null Agent/LossMonitor Agent/UDP Agent/TCPSink Agent/TCPSink/DelAck Agent/TCPSink/Sack1
        Agent/TCPSink/Sack1/DelAck}
    variable settings {
        Phy/WirelessPhy {Pt_ freq_ RXThresh_ CSThresh_ CPThresh_ L_}
        Mac/802_11 {dataRate_ basicRate_ RTSThreshold_ CWMin_ CWMax_}
        Antenna/OmniAntenna {Z_ Gt_ Gr_}
        Propagation/Shadowing {pathlossExp_ std_db_}
    }
}

proc ::wayhop::say {kind text} {
    variable out
    puts $out "$kind [string map {\n { } \r { }} $text]"
}

# Counts what is left out; the words are said once, with the count.
proc ::wayhop::leave_out {what} {
    variable left
    incr left($what)
}

# A command for the movement file: at once before the run, at its time in it.
proc ::wayhop::move {node command} {
    variable now
    variable running
    set line "\$node_([$node id]) $command"
    if {$running} {set line "\$ns_ at $now \"$line\""}
    say M $line
}

# What the senders of an application are set to now.
proc ::wayhop::values {object} {
    variable kept
    set class [$object info class]
    set family [expr {[string match Agent/TCPSink* $class] ? {Agent/TCPSink} : [string match Agent/TCP* $class] ? {Agent/TCP} : $class}]
    array set of $kept
    set found {}
    if {[info exists of($family)]} {
        foreach key $of($family) {
            if {![catch {$object set $key} value]} {lappend found $key $value}
        }
    }
    return $found
}

proc ::wayhop::started {app verb {amount {}}} {
    variable starts
    variable now
    variable peer
    set agent {}
    catch {set agent [$app agent]}
    set sink [expr {$agent != {} && [info exists peer($agent)] ? $peer($agent) : {}}]
    set snapshot {}
    foreach object [list $app $agent $sink] {
        lappend snapshot [expr {$object == {} ? {} : [values $object]}]
    }
    lappend starts [list $app $agent $sink $snapshot $verb $amount $now {}]
}

proc ::wayhop::stopped {app} {
    variable starts
    variable now
    for {set i [expr {[llength $starts] - 1}]} {$i >= 0} {incr i -1} {
        set start [lindex $starts $i]
        if {[lindex $start 0] == $app && [lindex $start 4] == "start"} {
            if {[lindex $start 7] == {}} {lset starts $i 7 $now}
            return
        }
    }
}

# The lines of one start of an application.
proc ::wayhop::flow {k start} {
    variable senders
    variable sinks
    variable kept
    foreach {app agent sink snapshot verb amount at stop} $start break
    set class [$app info class]
    array set known $kept
    if {![info exists known($class)] || ![string match Application/* $class]} {return [leave_out "applications of class $class"]}
    if {$agent == {}} {return [leave_out "applications without an agent"]}
    set agent_class [$agent info class]
    if {[lsearch -exact $senders $agent_class] < 0} {return [leave_out "flows of class $agent_class"]}
    if {$sink == {}} {return [leave_out "flows whose agent is not connected"]}
    set sink_class [$sink info class]
    if {[lsearch -exact $sinks $sink_class] < 0} {return [leave_out "flows to class $sink_class"]}
    set places {}
    foreach object [list $agent $sink] {
        if {[catch {$object set node_} node] || ![mobile $node]} {
            return [leave_out "flows with an end that is not a mobile node"]
        }
        lappend places "\$node_([$node id])"
    }
    if {$snapshot != [list [values $app] [values $agent] [values $sink]]} {
        leave_out "changes of the settings of a flow under way"
    }
    foreach {app_values agent_values sink_values} $snapshot break
    foreach {name class values} [list agent $agent_class $agent_values sink $sink_class $sink_values app $class $app_values] {
        say T "set ${name}_($k) \[new $class\]"
        foreach {key value} $values {
            if {![default $class $key $value]} {say T "\$${name}_($k) set $key $value"}
        }
    }
    say T "\$ns_ attach-agent [lindex $places 0] \$agent_($k)"
    say T "\$ns_ attach-agent [lindex $places 1] \$sink_($k)"
    say T "\$ns_ connect \$agent_($k) \$sink_($k)"
    say T "\$app_($k) attach-agent \$agent_($k)"
    say T "\$ns_ at $at \"\$app_($k) $verb[expr {$amount == {} ? {} : " $amount"}]\""
    if {$stop != {}} {say T "\$ns_ at $stop \"\$app_($k) stop\""}
}

# Whether ns-2 itself has this value, before any script.
proc ::wayhop::default {class key value} {
    variable defaults
    return [expr {[info exists defaults($class,$key)] && $defaults($class,$key) == $value}]
}

proc ::wayhop::mobile {node} {
    return [expr {[lsearch -exact [instances Node/MobileNode] $node] >= 0}]
}

# The objects of a class and of those that descend from it.
proc ::wayhop::instances {class} {
    set all [$class info instances]
    foreach subclass [$class info subclass] {set all [concat $all [instances $subclass]]}
    return $all
}

proc ::wayhop::finish {} {
    variable out
    variable ended
    variable starts
    variable settings
    variable config
    variable placed
    variable left
    foreach node [lsort -dictionary [instances Node/MobileNode]] {found $node}
    set k 0
    foreach start $starts {
        flow $k $start
        incr k
    }
    foreach class {Agent/Ping Agent/Message Agent/RTP Agent/Diffusion} {
        if {![catch {$class info instances} made]} {
            foreach agent $made {leave_out "agents of class $class"}
        }
    }
    if {$ended != {}} {say T "\$ns_ at $ended \"\$ns_ halt\""}
    foreach key [lsort [array names config]] {say S "$key $config($key)"}
    foreach {class keys} $settings {
        foreach key $keys {
            if {![catch {$class set $key} value]} {say S "$class.$key $value"}
        }
    }
    foreach what [lsort [array names left]] {say N "$left($what) $what"}
    close $out
    ::wayhop::real_exit 0
}

# A node that no line has placed is at 0, 0 to ns-2.
proc ::wayhop::found {node} {
    variable placed
    if {![info exists placed($node)]} {
        say M "\$node_([$node id]) set X_ 0.0"
        say M "\$node_([$node id]) set Y_ 0.0"
        leave_out "nodes without a place, which stand at 0, 0"
    }
}

proc ::wayhop::run {} {
    variable events
    variable now
    variable running 1
    variable ended
    variable most_events
    variable due {}
    set count 0
    while {1} {
        # Those that were scheduled meanwhile join the others.
        set due [lsort -integer -index 1 [concat $due [array_values]]]
        set due [lsort -real -index 0 $due]
        if {$due == {}} break
        set moment [lindex $due 0 0]
        while {$due != {} && [lindex $due 0 0] <= $moment && [array size events] == 0} {
            set event [lindex $due 0]
            set due [lrange $due 1 end]
            set now [lindex $event 0]
            if {[incr count] > $most_events} {
                leave_out "schedules without an end, cut off after $most_events commands"
                finish
            }
            if {[catch {uplevel #0 [lindex $event 2]} message]} {
                leave_out "commands that failed, such as at $now s: $message"
            }
        }
    }
    finish
}

proc ::wayhop::array_values {} {
    variable events
    set all {}
    foreach key [array names events] {lappend all $events($key)}
    array unset events
    return $all
}

# Puts commands before those of a method.
proc ::wayhop::before {class method commands} {
    $class instproc $method [method_arguments $class $method] "$commands\n[$class info instbody $method]"
}

proc ::wayhop::method_arguments {class method} {
    set all {}
    foreach argument [$class info instargs $method] {
        if {[$class info instdefault $method $argument value]} {lappend all [list $argument $value]} else {lappend all $argument}
    }
    return $all
}

foreach {class keys} $::wayhop::kept {
    set subclasses {{} /Reno /Newreno /Sack1 /Vegas /DelAck /Sack1/DelAck}
    foreach subclass $subclasses {
        foreach key $keys {catch {set ::wayhop::defaults($class$subclass,$key) [$class$subclass set $key]}}
    }
}
unset class keys subclasses subclass key

Simulator instproc at {time args} {
    set script [join $args]
    # As ns-2 does, the number that the word begins with: 200.0.0001 is a common way to say "just after 200.0".
    if {[scan $time %f time] != 1} {error "at $time: not a time"}
    if {$time < $::wayhop::now} {set time $::wayhop::now}
    set id [incr ::wayhop::serial]
    set ::wayhop::events($id) [list $time $id $script]
    return $id
}
Simulator instproc at-now {args} {eval $self at $::wayhop::now $args}
Simulator instproc cancel {id} {
    array unset ::wayhop::events $id
    if {[info exists ::wayhop::due]} {
        set ::wayhop::due [lsearch -all -inline -not -integer -exact -index 1 $::wayhop::due $id]
    }
}
Simulator instproc now {} {return $::wayhop::now}
Simulator instproc run {args} {::wayhop::run}
Simulator instproc halt {} {
    set ::wayhop::ended $::wayhop::now
    ::wayhop::finish
}
::wayhop::before Simulator connect {
    set ::wayhop::peer([lindex [list $src $dst] 0]) $dst
    set ::wayhop::peer($dst) $src
}
::wayhop::before Simulator node-config {
    foreach {wayhop_key wayhop_value} $args {set ::wayhop::config([string range $wayhop_key 1 end]) $wayhop_value}
}
foreach wayhop_link {duplex-link simplex-link} {
    ::wayhop::before Simulator $wayhop_link {::wayhop::leave_out {links by wire}}
}
Topography instproc load_flatgrid {x y args} {
    set ::wayhop::config(area) "$x $y"
    eval $self cmd load_flatgrid $x $y $args
}

Node/MobileNode instproc set {args} {
    # While it is being made, a node has no number yet, and gets the defaults of its class.
    if {[llength $args] >= 2 && [lsearch -exact [$self info vars] id_] >= 0 && [lsearch -exact {X_ Y_ Z_} [lindex $args 0]] >= 0} {
        set ::wayhop::placed($self) 1
        ::wayhop::move $self "set [lindex $args 0] [lindex $args 1]"
    }
    eval $self next $args
}
Node/MobileNode instproc setdest {x y speed} {
    set ::wayhop::placed($self) 1
    ::wayhop::move $self "setdest $x $y $speed"
}
Node/MobileNode instproc random-motion {on} {
    if {$on} {::wayhop::leave_out "moves that ns-2 draws itself (random-motion)"}
}
Node/MobileNode instproc start {} {}
Node/MobileNode instproc log-movement {} {}

foreach wayhop_class {Application Application/FTP} {
    $wayhop_class instproc start {args} {::wayhop::started $self start}
    $wayhop_class instproc stop {args} {::wayhop::stopped $self}
    $wayhop_class instproc produce {n} {::wayhop::started $self produce $n}
    $wayhop_class instproc producemore {n} {::wayhop::started $self produce $n}
    $wayhop_class instproc send {n} {::wayhop::started $self send $n}
}

# Files that are read are looked for beside the script; those that are written go to the working directory, a temporary one.
proc ::wayhop::beside {path} {
    variable folder
    if {![file exists $path] && [file pathtype $path] == "relative"} {return [file join $folder $path]}
    return $path
}
rename source ::wayhop::real_source
proc source {path} {uplevel 1 [list ::wayhop::real_source [::wayhop::beside $path]]}
rename open ::wayhop::real_open
proc open {path {access r} args} {
    if {[string match r* $access] && ![string match |* $path]} {return [::wayhop::real_open [::wayhop::beside $path] $access]}
    if {[string match |* $path]} {
        ::wayhop::leave_out "programs that the script would start"
        return [::wayhop::real_open /dev/null w]
    }
    if {[string match /* $path]} {return [::wayhop::real_open $path $access]}
    return [::wayhop::real_open [file tail $path] w]
}
rename exec ::wayhop::real_exec
proc exec {args} {
    ::wayhop::leave_out "programs that the script would start"
    return {}
}
rename exit ::wayhop::real_exit
proc exit {args} {
    if {$::wayhop::running} {set ::wayhop::ended $::wayhop::now}
    ::wayhop::finish
}

set argv0 $::wayhop::script
set argv [lrange $argv 2 end]
set argc [llength $argv]
if {[catch {::wayhop::real_source $::wayhop::script} ::wayhop::message]} {
    set ::wayhop::line 0
    regexp {\(file "[^"]*" line (\d+)\)} $errorInfo ::wayhop::all ::wayhop::line
    ::wayhop::say E "$::wayhop::line $::wayhop::message"
    close $::wayhop::out
    ::wayhop::real_exit 1
}
::wayhop::finish
