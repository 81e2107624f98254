set udp_(0) [new Agent/UDP]
$udp_(0) set packetSize_ 2000
$ns_ attach-agent $node_(13) $udp_(0)
set sink_(0) [new Agent/LossMonitor]
$ns_ attach-agent $node_(18) $sink_(0)
$ns_ connect $udp_(0) $sink_(0)
set cbr_(0) [new Application/Traffic/CBR]
$cbr_(0) set packetSize_ 64
$cbr_(0) set interval_ 0.25
$cbr_(0) set random_ 0
$cbr_(0) attach-agent $udp_(0)
$ns_ at 96.421954 "$cbr_(0) start"
set udp_(1) [new Agent/UDP]
$udp_(1) set packetSize_ 2000
$ns_ attach-agent $node_(18) $udp_(1)
set sink_(1) [new Agent/LossMonitor]
$ns_ attach-agent $node_(6) $sink_(1)
$ns_ connect $udp_(1) $sink_(1)
set cbr_(1) [new Application/Traffic/CBR]
$cbr_(1) set packetSize_ 64
$cbr_(1) set interval_ 0.25
$cbr_(1) set random_ 0
$cbr_(1) attach-agent $udp_(1)
$ns_ at 127.311718 "$cbr_(1) start"
set udp_(2) [new Agent/UDP]
$udp_(2) set packetSize_ 2000
$ns_ attach-agent $node_(49) $udp_(2)
set sink_(2) [new Agent/LossMonitor]
$ns_ attach-agent $node_(47) $sink_(2)
$ns_ connect $udp_(2) $sink_(2)
set cbr_(2) [new Application/Traffic/CBR]
$cbr_(2) set packetSize_ 64
$cbr_(2) set interval_ 0.25
$cbr_(2) set random_ 0
$cbr_(2) attach-agent $udp_(2)
$ns_ at 72.527811 "$cbr_(2) start"
set udp_(3) [new Agent/UDP]
$udp_(3) set packetSize_ 2000
$ns_ attach-agent $node_(6) $udp_(3)
set sink_(3) [new Agent/LossMonitor]
$ns_ attach-agent $node_(11) $sink_(3)
$ns_ connect $udp_(3) $sink_(3)
set cbr_(3) [new Application/Traffic/CBR]
$cbr_(3) set packetSize_ 64
$cbr_(3) set interval_ 0.25
$cbr_(3) set random_ 0
$cbr_(3) attach-agent $udp_(3)
$ns_ at 137.453238 "$cbr_(3) start"
set udp_(4) [new Agent/UDP]
$udp_(4) set packetSize_ 2000
$ns_ attach-agent $node_(40) $udp_(4)
set sink_(4) [new Agent/LossMonitor]
$ns_ attach-agent $node_(6) $sink_(4)
$ns_ connect $udp_(4) $sink_(4)
set cbr_(4) [new Application/Traffic/CBR]
$cbr_(4) set packetSize_ 64
$cbr_(4) set interval_ 0.25
$cbr_(4) set random_ 0
$cbr_(4) attach-agent $udp_(4)
$ns_ at 141.064904 "$cbr_(4) start"
set udp_(5) [new Agent/UDP]
$udp_(5) set packetSize_ 2000
$ns_ attach-agent $node_(1) $udp_(5)
set sink_(5) [new Agent/LossMonitor]
$ns_ attach-agent $node_(12) $sink_(5)
$ns_ connect $udp_(5) $sink_(5)
set cbr_(5) [new Application/Traffic/CBR]
$cbr_(5) set packetSize_ 64
$cbr_(5) set interval_ 0.25
$cbr_(5) set random_ 0
$cbr_(5) attach-agent $udp_(5)
$ns_ at 24.694574 "$cbr_(5) start"
set udp_(6) [new Agent/UDP]
$udp_(6) set packetSize_ 2000
$ns_ attach-agent $node_(5) $udp_(6)
set sink_(6) [new Agent/LossMonitor]
$ns_ attach-agent $node_(29) $sink_(6)
$ns_ connect $udp_(6) $sink_(6)
set cbr_(6) [new Application/Traffic/CBR]
$cbr_(6) set packetSize_ 64
$cbr_(6) set interval_ 0.25
$cbr_(6) set random_ 0
$cbr_(6) attach-agent $udp_(6)
$ns_ at 14.386330 "$cbr_(6) start"
set udp_(7) [new Agent/UDP]
$udp_(7) set packetSize_ 2000
$ns_ attach-agent $node_(24) $udp_(7)
set sink_(7) [new Agent/LossMonitor]
$ns_ attach-agent $node_(26) $sink_(7)
$ns_ connect $udp_(7) $sink_(7)
set cbr_(7) [new Application/Traffic/CBR]
$cbr_(7) set packetSize_ 64
$cbr_(7) set interval_ 0.25
$cbr_(7) set random_ 0
$cbr_(7) attach-agent $udp_(7)
$ns_ at 36.174267 "$cbr_(7) start"
set udp_(8) [new Agent/UDP]
$udp_(8) set packetSize_ 2000
$ns_ attach-agent $node_(0) $udp_(8)
set sink_(8) [new Agent/LossMonitor]
$ns_ attach-agent $node_(25) $sink_(8)
$ns_ connect $udp_(8) $sink_(8)
set cbr_(8) [new Application/Traffic/CBR]
$cbr_(8) set packetSize_ 64
$cbr_(8) set interval_ 0.25
$cbr_(8) set random_ 0
$cbr_(8) attach-agent $udp_(8)
$ns_ at 77.335616 "$cbr_(8) start"
set udp_(9) [new Agent/UDP]
$udp_(9) set packetSize_ 2000
$ns_ attach-agent $node_(10) $udp_(9)
set sink_(9) [new Agent/LossMonitor]
$ns_ attach-agent $node_(46) $sink_(9)
$ns_ connect $udp_(9) $sink_(9)
set cbr_(9) [new Application/Traffic/CBR]
$cbr_(9) set packetSize_ 64
$cbr_(9) set interval_ 0.25
$cbr_(9) set random_ 0
$cbr_(9) attach-agent $udp_(9)
$ns_ at 119.109168 "$cbr_(9) start"
set udp_(10) [new Agent/UDP]
$udp_(10) set packetSize_ 2000
$ns_ attach-agent $node_(22) $udp_(10)
set sink_(10) [new Agent/LossMonitor]
$ns_ attach-agent $node_(4) $sink_(10)
$ns_ connect $udp_(10) $sink_(10)
set cbr_(10) [new Application/Traffic/CBR]
$cbr_(10) set packetSize_ 64
$cbr_(10) set interval_ 0.25
$cbr_(10) set random_ 0
$cbr_(10) attach-agent $udp_(10)
$ns_ at 174.682480 "$cbr_(10) start"
set udp_(11) [new Agent/UDP]
$udp_(11) set packetSize_ 2000
$ns_ attach-agent $node_(23) $udp_(11)
set sink_(11) [new Agent/LossMonitor]
$ns_ attach-agent $node_(42) $sink_(11)
$ns_ connect $udp_(11) $sink_(11)
set cbr_(11) [new Application/Traffic/CBR]
$cbr_(11) set packetSize_ 64
$cbr_(11) set interval_ 0.25
$cbr_(11) set random_ 0
$cbr_(11) attach-agent $udp_(11)
$ns_ at 13.719781 "$cbr_(11) start"
set udp_(12) [new Agent/UDP]
$udp_(12) set packetSize_ 2000
$ns_ attach-agent $node_(7) $udp_(12)
set sink_(12) [new Agent/LossMonitor]
$ns_ attach-agent $node_(35) $sink_(12)
$ns_ connect $udp_(12) $sink_(12)
set cbr_(12) [new Application/Traffic/CBR]
$cbr_(12) set packetSize_ 64
$cbr_(12) set interval_ 0.25
$cbr_(12) set random_ 0
$cbr_(12) attach-agent $udp_(12)
$ns_ at 66.532164 "$cbr_(12) start"
set udp_(13) [new Agent/UDP]
$udp_(13) set packetSize_ 2000
$ns_ attach-agent $node_(28) $udp_(13)
set sink_(13) [new Agent/LossMonitor]
$ns_ attach-agent $node_(44) $sink_(13)
$ns_ connect $udp_(13) $sink_(13)
set cbr_(13) [new Application/Traffic/CBR]
$cbr_(13) set packetSize_ 64
$cbr_(13) set interval_ 0.25
$cbr_(13) set random_ 0
$cbr_(13) attach-agent $udp_(13)
$ns_ at 149.070300 "$cbr_(13) start"
set udp_(14) [new Agent/UDP]
$udp_(14) set packetSize_ 2000
$ns_ attach-agent $node_(12) $udp_(14)
set sink_(14) [new Agent/LossMonitor]
$ns_ attach-agent $node_(17) $sink_(14)
$ns_ connect $udp_(14) $sink_(14)
set cbr_(14) [new Application/Traffic/CBR]
$cbr_(14) set packetSize_ 64
$cbr_(14) set interval_ 0.25
$cbr_(14) set random_ 0
$cbr_(14) attach-agent $udp_(14)
$ns_ at 15.342390 "$cbr_(14) start"
set udp_(15) [new Agent/UDP]
$udp_(15) set packetSize_ 2000
$ns_ attach-agent $node_(29) $udp_(15)
set sink_(15) [new Agent/LossMonitor]
$ns_ attach-agent $node_(15) $sink_(15)
$ns_ connect $udp_(15) $sink_(15)
set cbr_(15) [new Application/Traffic/CBR]
$cbr_(15) set packetSize_ 64
$cbr_(15) set interval_ 0.25
$cbr_(15) set random_ 0
$cbr_(15) attach-agent $udp_(15)
$ns_ at 82.629491 "$cbr_(15) start"
set udp_(16) [new Agent/UDP]
$udp_(16) set packetSize_ 2000
$ns_ attach-agent $node_(43) $udp_(16)
set sink_(16) [new Agent/LossMonitor]
$ns_ attach-agent $node_(1) $sink_(16)
$ns_ connect $udp_(16) $sink_(16)
set cbr_(16) [new Application/Traffic/CBR]
$cbr_(16) set packetSize_ 64
$cbr_(16) set interval_ 0.25
$cbr_(16) set random_ 0
$cbr_(16) attach-agent $udp_(16)
$ns_ at 169.018435 "$cbr_(16) start"
set udp_(17) [new Agent/UDP]
$udp_(17) set packetSize_ 2000
$ns_ attach-agent $node_(46) $udp_(17)
set sink_(17) [new Agent/LossMonitor]
$ns_ attach-agent $node_(5) $sink_(17)
$ns_ connect $udp_(17) $sink_(17)
set cbr_(17) [new Application/Traffic/CBR]
$cbr_(17) set packetSize_ 64
$cbr_(17) set interval_ 0.25
$cbr_(17) set random_ 0
$cbr_(17) attach-agent $udp_(17)
$ns_ at 131.986144 "$cbr_(17) start"
set udp_(18) [new Agent/UDP]
$udp_(18) set packetSize_ 2000
$ns_ attach-agent $node_(30) $udp_(18)
set sink_(18) [new Agent/LossMonitor]
$ns_ attach-agent $node_(10) $sink_(18)
$ns_ connect $udp_(18) $sink_(18)
set cbr_(18) [new Application/Traffic/CBR]
$cbr_(18) set packetSize_ 64
$cbr_(18) set interval_ 0.25
$cbr_(18) set random_ 0
$cbr_(18) attach-agent $udp_(18)
$ns_ at 9.575270 "$cbr_(18) start"
set udp_(19) [new Agent/UDP]
$udp_(19) set packetSize_ 2000
$ns_ attach-agent $node_(44) $udp_(19)
set sink_(19) [new Agent/LossMonitor]
$ns_ attach-agent $node_(14) $sink_(19)
$ns_ connect $udp_(19) $sink_(19)
set cbr_(19) [new Application/Traffic/CBR]
$cbr_(19) set packetSize_ 64
$cbr_(19) set interval_ 0.25
$cbr_(19) set random_ 0
$cbr_(19) attach-agent $udp_(19)
$ns_ at 172.552408 "$cbr_(19) start"
set nflows 20
