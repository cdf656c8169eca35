'sea1 | wave:3 anchor:2 sail:4 day crew tide:3 the:2 of:2 rudder:3 harbour deck:4 boat:3
'space-sea2 | launch:2 sail:3 deck long:3 crater crew wave anchor:2 comet the:2 of star rocket
'kitchen-sea3 | butter the:3 long:2 boat day:2 recipe:2 sugar:3 harbour dough:2 flour captain spoon
'space4 | moon:3 day:2 of:2 long engine:3 comet star orbit:2 crater rocket
'space-sea5 | rudder of:3 star orbit:2 wave long the:4 sail anchor:4 harbour captain probe launch rocket crew day
'space6 | orbit:4 comet:4 launch the:5 long:6 moon of:2 probe:2 star engine planet crater rocket
'space7 | rocket:2 launch:2 long:3 probe:3 star:3 moon:7 crater:4 orbit:2 day engine:3 comet:5 the:2 of:2 planet
'sea8 | anchor:2 tide crew:3 deck:3 harbour:3 captain:4 rudder:3 sail:2 of the:3 boat:2 long:3 day wave:2
'space-kitchen9 | the:3 dough:3 probe:5 comet pan:2 long:6 bake:3 sugar:3 star rocket:3 launch engine day orbit crater recipe spoon
'sea10 | wave:5 crew:4 boat:4 tide:5 sail day:3 long:2 deck rudder
'kitchen-sea11 | long:2 day:2 deck:2 harbour:5 bake rudder sugar recipe pan spoon captain salt the crew
'space12 | probe:3 moon:2 rocket:2 launch:4 day:7 planet:4 comet:4 long:3 crater:2 engine:3 star:3 of:2
'space13 | moon:4 of star:3 orbit:5 day:2 the:2 crater:2 probe:3 engine:4 planet comet:3 long rocket launch:2
'sea14 | rudder:6 anchor:4 day:3 crew:4 tide:4 long:3 deck:2 captain wave of boat:3 harbour the:2 sail
'sea15 | day:3 harbour:3 of long:6 anchor:3 deck:3 wave:5 the:4 boat:3 rudder tide:3 crew captain:2 sail:2
'kitchen16 | oven:2 pan:4 long dough:3 spoon:2 recipe:2 day butter:2 sugar of salt:3 the flour bake
'sea-kitchen17 | spoon the captain:3 salt:2 anchor:3 flour:2 sail boat dough long:2 day:2 harbour recipe
'space18 | of:5 probe:4 orbit crater:5 rocket:2 launch:4 engine:3 the comet:4 moon:3 long planet:2 star
'space19 | orbit planet:3 launch:3 rocket:2 long:2 of:3 crater:2 day the probe moon
'space20 | planet crater:5 engine rocket star of probe:2 moon long:2 comet
'kitchen-sea21 | sail:2 boat:3 butter tide wave:5 harbour:2 oven:2 captain long:3 anchor:6 rudder:3 day:4 crew of:2 the bake pan
'space22 | long:6 star:3 the:2 crater:4 planet:2 probe:5 comet rocket:4 orbit:3 of:4 moon day engine
'kitchen23 | dough:2 bake:4 pan butter:2 flour:4 spoon:2 day
'space24 | day:4 long:2 comet planet:4 star:5 of moon launch:2 probe:2 the orbit
