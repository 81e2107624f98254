# Runs a movement file and perhaps a traffic file in ns-2.
# usage: ns driver.tcl NODES X Y STOP MOVEMENT TRAFFIC|- TIMES|- STEP
# With TIMES (comma-separated seconds) it prints "POS time node x y z"; every STEP seconds (0: never) all positions are
# brought up to date, as packets would do it. With traffic it prints "DELIVERED packets" at the end, and
# before it for each TCP agent in the order of the file "ACKED segment", the highest number that is acknowledged.
foreach {nodes width height stop movement traffic times step} $argv break
Mac/802_11 set dataRate_ 2Mb
Mac/802_11 set basicRate_ 2Mb
set ns_ [new Simulator]
set trace [open /dev/null w]
$ns_ trace-all $trace
set topo [new Topography]
$topo load_flatgrid $width $height
set god_ [create-god $nodes]
$ns_ node-config -adhocRouting AODV -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topo \
    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
for {set i 0} {$i < $nodes} {incr i} {
    set node_($i) [$ns_ node]
    $node_($i) random-motion 0
}
# Agent/Null counts nothing: sinks that do take its place.
rename new plain_new
set sinks {}
set senders {}
proc new {class args} {
    global sinks senders
    if {$class == "Agent/Null"} {
        set sink [eval plain_new Agent/LossMonitor $args]
        lappend sinks $sink
        return $sink
    }
    set made [eval plain_new $class $args]
    if {[string match Agent/TCP* $class] && ![string match Agent/TCPSink* $class]} {lappend senders $made}
    return $made
}
source $movement
if {$traffic != "-"} {source $traffic}
proc update_all {} {
    global node_ nodes
    for {set i 0} {$i < $nodes} {incr i} {$node_($i) log-movement}
}
proc show {} {
    global ns_ node_ nodes
    update_all
    for {set i 0} {$i < $nodes} {incr i} {
        puts [format "POS %.9f %d %.12f %.12f %.12f" [$ns_ now] $i \
            [$node_($i) set X_] [$node_($i) set Y_] [$node_($i) set Z_]]
    }
}
proc tick {} {
    global ns_ step
    update_all
    $ns_ at [expr [$ns_ now] + $step] tick
}
proc finish {} {
    global sinks senders
    foreach s $senders {puts "ACKED [$s set ack_]"}
    set delivered 0
    foreach s $sinks {incr delivered [$s set npkts_]}
    puts "DELIVERED $delivered"
    exit 0
}
if {$step > 0} {$ns_ at $step tick}
if {$times != "-"} {foreach t [split $times ,] {$ns_ at $t show}}
$ns_ at $stop finish
$ns_ run
