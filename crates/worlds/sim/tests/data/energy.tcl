# Two nodes 100 m apart with batteries in ns-2: CBR from the first to the second. Prints ns-2's trace, whose lines end with the
# energy left and used by state.
# usage: ns energy.tcl PACKETS OCTETS INTERVAL JOULES TX RX IDLE STOP
foreach {packets octets interval joules tx rx idle stop} $argv break
Mac/802_11 set dataRate_ 2Mb
Mac/802_11 set basicRate_ 1Mb
set ns_ [new Simulator]
$ns_ trace-all [open /dev/stdout w]
set topo [new Topography]
$topo load_flatgrid 500 500
create-god 2
$ns_ node-config -adhocRouting AODV -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topo \
    -energyModel EnergyModel -initialEnergy $joules -txPower $tx -rxPower $rx -idlePower $idle -sleepPower 0 \
    -agentTrace ON -routerTrace OFF -macTrace ON -movementTrace OFF
for {set i 0} {$i < 2} {incr i} {
    set node_($i) [$ns_ node]
    $node_($i) random-motion 0
    $node_($i) set X_ [expr 10 + 100 * $i]
    $node_($i) set Y_ 10
    $node_($i) set Z_ 0
}
set udp [new Agent/UDP]
$ns_ attach-agent $node_(0) $udp
set null [new Agent/Null]
$ns_ attach-agent $node_(1) $null
$ns_ connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr set packetSize_ $octets
$cbr set interval_ $interval
$cbr set maxpkts_ $packets
$cbr attach-agent $udp
$ns_ at 1.0 "$cbr start"
$ns_ at $stop "$ns_ flush-trace; exit 0"
$ns_ run
