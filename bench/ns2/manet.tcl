# Runs one ad hoc scenario in ns-2.35 and prints one JSON object.
#
#   ns manet.tcl key=value ...
#
# The scenario is a movement file and a traffic file, as setdest and cbrgen write them. The constants are those of
# Wayhop's radio presets wavelan-914-cmu (data = basic = 2 Mb/s) and wavelan-914-ns2 (basic=1Mb).

set started [clock clicks -milliseconds]

array set option {
    protocol  DSR
    movement  ""
    traffic   ""
    duration  900
    seed      1
    data      2Mb
    basic     2Mb
    rts       on
    queue     50
    trace     ""
    mactrace  OFF
    height_m  1.5
    power_w   0.28183815
    frequency 914e6
    receive_w 3.652e-10
    sense_w   1.559e-11
}

foreach word $argv {
    set cut [string first = $word]
    set key [string range $word 0 [expr {$cut - 1}]]
    if {$cut < 1 || ![info exists option($key)]} {
        puts stderr "manet.tcl: unknown option '$word'; known: [lsort [array names option]]"
        exit 2
    }
    set option($key) [string range $word [expr {$cut + 1}] end]
}

proc file_text {name} {
    if {[string match *.gz $name]} { return [exec gzip -dc $name] }
    set channel [open $name r]
    set text [read $channel]
    close $channel
    return $text
}

# Node numbers and the area come from the movement file, so no option can contradict it.
set moves [file_text $option(movement)]
set low 1000000000
set high 0
set width 1.0
set height 1.0
foreach line [split $moves \n] {
    if {[regexp {^\s*\$node_\((\d+)\)\s+set\s+([XY])_\s+(\S+)} $line -> id axis value]} {
        if {$id < $low} { set low $id }
        if {$id > $high} { set high $id }
        if {$axis eq "X"} { set width [expr {max($width, $value)}] } else { set height [expr {max($height, $value)}] }
    } elseif {[regexp {setdest\s+(\S+)\s+(\S+)\s+} $line -> x y]} {
        set width [expr {max($width, $x)}]
        set height [expr {max($height, $y)}]
    }
}
set node_count [expr {$high - $low + 1}]

# Radio, without options: 914 MHz WaveLAN, 250 m to receive, 550 m to sense, under two-ray ground.
foreach {name value} {L_ 1.0 CPThresh_ 10.0 bandwidth_ 2e6} { Phy/WirelessPhy set $name $value }
foreach {name key} {Pt_ power_w freq_ frequency RXThresh_ receive_w CSThresh_ sense_w} {
    Phy/WirelessPhy set $name $option($key)
}
foreach {name value} [list X_ 0 Y_ 0 Z_ $option(height_m) Gt_ 1.0 Gr_ 1.0] { Antenna/OmniAntenna set $name $value }
Mac/802_11 set dataRate_ $option(data)
Mac/802_11 set basicRate_ $option(basic)
Mac/802_11 set RTSThreshold_ [expr {$option(rts) ? 0 : 3000}]
Queue/DropTail/PriQueue set Prefer_Routing_Protocols 1

ns-random $option(seed)
set ns_ [new Simulator]
set tracing [expr {$option(trace) ne "" ? "ON" : "OFF"}]
set trace_channel [open [expr {$option(trace) ne "" ? $option(trace) : "/dev/null"}] w]
$ns_ trace-all $trace_channel

set ground [new Topography]
$ground load_flatgrid [expr {ceil($width) + 1}] [expr {ceil($height) + 1}]
set god_ [create-god $node_count]

# ns-2's DSR asserts on any other queue; its AODV on the other one, which is DSDV's too.
set queue_of(DSR) CMUPriQueue
set queue_of(AODV) Queue/DropTail/PriQueue
set queue_of(DSDV) Queue/DropTail/PriQueue
# No routing: broadcasts go to the neighbours.
set queue_of(DumbAgent) Queue/DropTail/PriQueue
$ns_ node-config -adhocRouting $option(protocol) -llType LL -macType Mac/802_11 -phyType Phy/WirelessPhy \
    -ifqType $queue_of($option(protocol)) -ifqLen $option(queue) \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround \
    -channel [new Channel/WirelessChannel] -topoInstance $ground \
    -agentTrace $tracing -routerTrace $tracing -macTrace $option(mactrace) -movementTrace OFF

for {set id $low} {$id <= $high} {incr id} {
    set node_($id) [$ns_ node]
    $node_($id) random-motion 0
}

eval $moves
if {$option(traffic) ne ""} { eval [file_text $option(traffic)] }
for {set id $low} {$id <= $high} {incr id} { $ns_ at $option(duration) "$node_($id) reset" }

proc peak_memory_kb {} {
    if {![regexp {VmHWM:\s+(\d+)} [file_text /proc/self/status] -> kb]} { return 0 }
    return $kb
}

proc finish {} {
    global ns_ option node_count started built trace_channel sink_ tcpsink_ tcp_
    $ns_ flush-trace
    close $trace_channel
    set ended [clock clicks -milliseconds]
    set received 0
    foreach sink [array names sink_] { catch { incr received [$sink_($sink) set npkts_] } }
    # TCP: segments in order, headers of 40 octets counted; and the senders' retransmissions.
    set tcp_bytes 0
    set tcp_resent 0
    foreach sink [array names tcpsink_] { incr tcp_bytes [$tcpsink_($sink) set bytes_] }
    foreach agent [array names tcp_] { incr tcp_resent [$tcp_($agent) set nrexmitpack_] }
    # Event numbers are handed out in order: a new event's number is the count of events so far.
    set events [$ns_ at [expr {[$ns_ now] + 1.0}] ""]
    puts [format {{"simulator": "ns-2.35", "protocol": "%s", "nodes": %d, "seed": %d, "duration_s": %s, "run_s": %.3f, "setup_s": %.3f, "events": %s, "peak_kb": %d, "delivered": %d, "tcp_bytes": %s, "tcp_resent": %s}} \
        $option(protocol) $node_count $option(seed) $option(duration) \
        [expr {($ended - $built) / 1000.0}] [expr {($built - $started) / 1000.0}] $events [peak_memory_kb] $received $tcp_bytes $tcp_resent]
    flush stdout
    $ns_ halt
    exit 0
}
$ns_ at [expr {$option(duration) + 0.000001}] finish
set built [clock clicks -milliseconds]
$ns_ run
