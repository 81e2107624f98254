# Runs a traffic file between two nodes on a wire in ns-2, and prints ns-2's trace of the wire.
# usage: ns bursts.tcl TRAFFIC STOP
foreach {traffic stop} $argv break
set ns_ [new Simulator]
set node_(0) [$ns_ node]
set node_(1) [$ns_ node]
$ns_ duplex-link $node_(0) $node_(1) 1000Mb 1ms DropTail
$ns_ trace-queue $node_(0) $node_(1) [open /dev/stdout w]
proc finish {} {
    global ns_
    $ns_ flush-trace
    exit 0
}
source $traffic
$ns_ at $stop finish
$ns_ run
