# Four nodes in a line, 200 m apart; the last one walks away at 15 s.
$node_(0) set X_ 10.0
$node_(0) set Y_ 10.0
$node_(0) set Z_ 0.0
$node_(1) set X_ 210.0
$node_(1) set Y_ 10.0
$node_(1) set Z_ 0.0
$node_(2) set X_ 410.0
$node_(2) set Y_ 10.0
$node_(2) set Z_ 0.0
$node_(3) set X_ 610.0
$node_(3) set Y_ 10.0
$node_(3) set Z_ 0.0
$ns_ at 15.0 "$node_(3) setdest 1200.0 10.0 50.0"
