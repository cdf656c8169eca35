'space1 | probe:5 orbit:3 launch:3 star:5 crater:2 long:2 the:2 moon:2 planet:2 comet:2 of:2 engine rocket:2 day
'space-kitchen2 | spoon crater:2 oven orbit long:2 day:2 bake:2 the sugar of butter:2 pan:2 dough:3 star probe rocket recipe
'space-kitchen3 | oven:2 probe:2 recipe:2 spoon:3 bake salt of:4 day flour long moon orbit planet star pan
'kitchen-sea4 | captain:3 boat:3 sail rudder:2 wave crew:3 long:2 oven recipe:2 dough:2 pan the
'space-kitchen5 | long:4 probe:2 crater:3 salt orbit:2 spoon:2 pan:4 comet bake recipe rocket:2 butter launch star engine planet oven of
'sea6 | deck:3 long:2 boat:2 captain:2 rudder:3 tide:2 anchor:4 day of:2 wave the sail harbour:2 crew:2
'kitchen-space7 | oven:2 flour of:3 long:4 launch:3 sugar:5 planet:3 spoon:2 moon the:3 dough butter crater:4 pan day:3 rocket star salt
'sea-space8 | comet:2 engine:2 boat:3 probe deck:2 day:2 star of:2 orbit launch captain rudder rocket
'space9 | the:6 crater:4 star:4 moon:3 launch:3 day:2 of:5 planet probe:4 engine orbit:2 comet:3 rocket:2
'kitchen10 | salt day the:2 spoon:3 butter recipe dough sugar:2 bake:3 of:2 pan long
'sea11 | captain:4 long:5 anchor rudder:4 wave:2 sail:6 the:5 of day:2 tide:3 deck:2 boat:2 crew harbour
'kitchen12 | the:2 of:3 flour:2 bake:3 dough salt pan sugar long spoon butter
'kitchen13 | day:2 oven butter:2 bake flour:3 recipe:2 dough:2 long:3 of:3 spoon:4 sugar:2 the salt pan
'space14 | star:2 engine:2 probe:5 of:2 rocket:2 comet planet:2 orbit:3 launch:3 crater:5 long:2 day:2
'space15 | day:4 probe:2 planet:2 long:2 orbit:2 comet:2 of launch:3 moon:2 rocket:5 the:2
'space16 | comet:4 rocket planet:3 engine:5 crater:3 star:2 of:2 moon:3 day:2 probe:2 the
'kitchen17 | flour:5 spoon:3 recipe:2 pan:2 oven:2 salt the sugar:2 of:2 bake:3 butter long dough
'space18 | the:7 rocket planet:3 star:2 moon:4 long crater:2 comet day:4 launch:5 of orbit:2 probe:2
'sea-space19 | boat:2 moon captain:2 engine:3 of:2 rudder:2 crater:4 tide:2 rocket launch:2 long:2 orbit comet star:2 the:3 anchor wave:2 planet probe
'space20 | launch:2 star long:4 engine of probe rocket:2 planet orbit:2 the:3 crater
'space21 | launch:3 crater:6 planet:2 long:2 probe:3 comet:2 the:5 of:5 moon:3 rocket:2 star engine
'space22 | long:2 rocket:2 engine:2 day probe:4 star:3 comet moon:2 launch:2 crater planet
'kitchen23 | oven:2 of butter recipe salt:2 sugar:3 flour:2 day dough:2 long bake
'sea24 | tide:5 sail:2 anchor day:3 the boat captain wave
'kitchen25 | long:4 dough:6 butter:3 sugar:5 salt:2 the recipe:4 spoon:2 day flour:2 pan:2
'kitchen26 | pan:5 the:2 butter:4 salt:3 recipe:3 oven:2 spoon:4 sugar dough:4 long:2 flour bake:2 of
'space27 | launch:2 star:4 day:2 rocket:4 engine:3 probe:3 the:4 long:3 orbit:2 of:2 comet crater moon planet
'kitchen28 | day:3 of:2 pan:3 oven:3 flour:2 the:4 dough:2 butter salt recipe:2 sugar:3 long spoon
'space29 | day:4 launch:3 planet probe:3 rocket:3 moon:3 crater orbit comet
'sea-kitchen30 | sugar flour recipe salt sail anchor the:2 of wave pan:2 bake:2 day:5 deck long:3 butter oven crew tide
'sea31 | deck:4 of:4 tide:2 day:5 anchor:2 harbour:2 captain wave:2 crew rudder sail
'space-kitchen32 | butter spoon:2 flour orbit recipe probe sugar:3 bake day:3 moon launch:2 salt comet oven:2 pan
'sea33 | wave:4 sail:3 captain:2 harbour:2 crew:2 boat:4 day:2 the:2 deck long rudder anchor tide of
'space-kitchen34 | moon:3 of:4 salt:2 orbit:3 engine:2 dough:2 day:4 spoon:3 pan sugar:3 probe butter planet oven long:2 flour rocket
'sea35 | the captain:3 boat:2 tide:4 of:2 wave rudder:3 anchor:2 deck:2 harbour:3 crew sail
'sea36 | tide:3 crew harbour:2 deck:3 captain rudder sail:2 wave boat the:3
'space37 | planet:6 long rocket:3 comet:3 star:5 probe launch:3 day:4 the crater:4 orbit engine
'sea38 | boat:4 the:4 sail:2 of:2 harbour:2 rudder:3 deck:5 anchor:2 wave long captain:2
'sea39 | harbour:4 rudder:2 tide:3 captain:4 the:2 boat:2 crew:4 wave:3 anchor:4 of long day:4 deck:2 sail
'kitchen40 | the:4 dough:2 pan:2 butter:2 day:2 flour:2 sugar bake:3 oven salt recipe
'sea41 | long crew:2 sail:5 tide rudder:2 deck the:4 boat:5 harbour:2 day:3 of:2 captain
'sea42 | crew:3 deck:3 day:7 captain:2 boat:2 wave:3 tide:3 sail harbour:3 long the
'sea43 | rudder:3 sail:4 harbour the:2 crew day:2 anchor:2 long:2 wave:2 deck captain of
'kitchen44 | day:2 butter:3 spoon:2 pan oven:2 salt bake:2 recipe long dough
'kitchen45 | bake:3 day:4 salt:3 sugar:3 butter:3 pan:4 flour
'kitchen46 | sugar:6 spoon:3 oven:4 butter:2 recipe:2 flour:6 the day:2 bake:2 of:5 salt dough long:2 pan
'kitchen-space47 | of:3 the day orbit crater oven:3 comet:2 salt pan:2 dough sugar
'space48 | planet:5 moon:2 crater orbit:2 day:2 star:2 probe:3 the:2 engine rocket:2 of
'sea49 | anchor:3 deck:2 the:2 day:3 boat:2 of:2 long:2 captain:2 rudder:5 sail:2 harbour:5 crew
'space50 | orbit:4 probe:4 long crater:3 rocket:3 engine:2 comet:4 star of the:6 day:2 planet:4 launch moon
'kitchen51 | pan:2 salt:4 sugar bake oven recipe:2 butter dough spoon flour day
'kitchen-space52 | rocket day butter:3 of:2 moon recipe:2 spoon oven:3 probe:2 launch:2 bake engine planet
'space53 | long:2 probe:2 planet:5 day:4 the:2 launch:5 comet:2 moon:3 orbit:2 engine:3 of:3 rocket:3 star
'sea54 | captain:2 deck:3 crew:3 rudder:2 tide long boat:2 wave day:2
'kitchen-space55 | sugar:3 spoon:2 recipe:2 oven:2 launch:4 engine:3 probe:2 the:2 butter salt crater planet:2 pan star rocket orbit:2 long:2
'space56 | probe:2 rocket:2 engine:2 of launch:2 orbit:3 day:2 crater:3 planet:2 comet
'sea-space57 | rocket wave:3 comet:2 launch:4 anchor the:4 day:2 deck planet probe:2 of rudder:2 sail crew long captain crater:2 orbit
'sea58 | sail:5 wave:5 boat:3 anchor of:2 tide the:4 harbour captain deck
'space59 | star:3 crater:2 probe:3 orbit:3 of engine planet:7 comet:5 moon:2 launch:3 the:2
'kitchen-sea60 | bake dough:3 crew day:3 wave:2 pan of deck anchor rudder:2 sail sugar tide recipe harbour spoon the
'kitchen-sea61 | day wave captain bake the long:2 tide:2 of:2 pan:3 recipe:3 harbour crew spoon dough flour anchor rudder
'sea62 | boat:3 captain:2 of:3 crew:4 tide anchor:2 harbour rudder wave deck:2
'sea63 | long:5 sail:2 captain:3 anchor:3 wave:2 the:2 boat:4 harbour:4 deck:3 crew tide:2 day
'space-sea64 | of:2 launch:2 star:2 boat:2 day:3 deck:2 wave the engine comet probe harbour moon sail crew long crater
'sea65 | tide:2 crew:4 long:6 boat:4 day:3 of:2 sail:4 harbour:2 captain:4 the
'space-sea66 | crater harbour:2 the rocket:2 orbit:2 deck:2 planet day:2 wave launch
'sea67 | wave:3 anchor:3 boat:3 the:4 long:2 crew:2 tide of:2 harbour:3 rudder:3 day:2 captain
'kitchen68 | sugar:3 recipe:2 salt:3 day:2 bake flour:2 butter:2 long pan:3 of:2 oven dough
'kitchen69 | pan:2 the:5 dough:6 of:3 salt:3 long:2 recipe spoon:2 oven:3 sugar:2 flour:2 butter:5
'sea70 | captain:2 the:4 anchor deck boat:2 tide:3 rudder:2 harbour crew:2 day sail:2 wave
'sea71 | rudder:4 harbour:2 tide captain:2 long wave crew:2 boat:3 day:2 deck sail the
'space72 | star:3 engine:3 rocket:8 probe:3 launch:3 of day:3 long:4 planet:3 crater:2 the:2 moon:3 comet orbit
'sea73 | anchor:3 rudder tide:3 day sail:3 deck the harbour long:2 captain of
'space74 | day:2 comet:6 crater:5 star:3 probe:3 planet:5 orbit:3 the long:2 rocket:2 launch:4 engine moon of
'sea75 | wave:2 the:2 tide:4 anchor:2 day:3 boat:2 of:2 rudder:3 captain deck harbour crew
'kitchen-space76 | the:3 of:4 launch crater:3 rocket:2 long:5 butter:2 engine oven bake:2 salt probe:4 flour:2 moon pan spoon comet:2 dough
'space-kitchen77 | long:2 dough:4 oven:2 day star:2 pan:2 the:2 salt launch rocket:2 of engine orbit planet:2 probe bake
'space78 | rocket:3 of:3 crater:2 engine:2 comet:4 star:2 probe:2 launch:3 planet:2 orbit
'sea-kitchen79 | pan tide anchor:2 deck recipe crew captain wave day bake the of sugar:2 sail
'space-kitchen80 | the day recipe of:4 spoon:2 orbit planet bake sugar comet crater long oven engine rocket
'space81 | of:2 planet probe:3 star:4 long:2 moon:3 orbit:5 comet:2 day:2 the:4 launch crater:2 engine:2
'sea82 | long:2 crew:2 day harbour:4 sail:3 deck:3 anchor:4 of:2 tide:2 boat captain
'space-kitchen83 | day:3 dough salt:2 moon:2 sugar:3 of:2 rocket:2 the:2 recipe long:2 butter planet
'kitchen84 | flour salt:2 bake:2 the:4 of:2 butter:2 recipe:2 sugar:3 oven:3 spoon:2 long pan dough
'kitchen85 | butter:3 oven:3 spoon sugar salt the bake dough:2 flour of
'space-sea86 | deck long tide engine:2 day:3 launch:3 crater:2 of:3 comet boat:3 sail orbit:2 crew:3 wave rudder:3 captain:2 star moon probe the
'space87 | crater:6 moon:3 planet:3 star:4 day:2 engine:4 rocket:3 orbit:3 launch:3 comet long probe the
'space88 | of:2 probe:2 comet:2 rocket long:3 planet:3 launch:2 day:2 engine:3 orbit:2 crater:2 the star:2
'kitchen89 | the:3 pan:2 spoon:2 butter:2 sugar:2 dough:2 salt:2 recipe:3 bake:2 long:2 day of
'kitchen90 | spoon:2 oven:3 pan:3 the:3 dough:3 salt:3 sugar:3 butter:3 flour of:4 day bake recipe:2
'space-kitchen91 | comet dough probe:2 bake:3 crater:2 of recipe:2 launch:2 engine star sugar butter
'space92 | engine:5 comet:3 orbit:3 probe day:6 star:2 of:3 crater:4 long:6 launch:2 moon:2 planet the
'kitchen-space93 | moon comet:3 of:4 long star recipe:3 orbit:2 dough:2 salt probe day flour the:3 oven launch sugar
'kitchen94 | pan:6 dough:4 recipe:3 butter:4 sugar:4 spoon flour:2 of:3 bake:5 day:3 the:2 salt
'kitchen-sea95 | flour:2 day:2 harbour the:3 sail:2 anchor:2 wave butter sugar bake:2 tide long:2 of spoon:2 pan oven captain crew
'sea96 | deck:2 anchor:2 crew boat:2 long:2 of rudder:2 tide:3 day:3 sail wave
'space97 | of:4 probe moon:3 launch:2 engine:2 star planet:2 day orbit
'space98 | day:2 comet:6 planet:4 the:5 of:5 crater:3 star:2 orbit:3 rocket:4 probe:2 engine:2
'space99 | engine:7 day:2 probe:2 crater:2 moon:3 launch long the:5 orbit:2 rocket planet comet:2 of
'sea-space100 | rocket probe of boat:3 planet:3 comet engine:2 wave sail deck harbour tide
'space101 | launch:3 comet:6 moon:3 engine:2 day planet:2 rocket star of long:2 probe orbit the
'sea102 | rudder:2 deck:3 captain:3 of:4 boat:6 wave:5 crew:2 day:2 sail tide anchor:3 harbour
'space-kitchen103 | salt:2 bake:4 of:2 engine:2 butter rocket:2 star comet:2 moon:2 crater:2 long day oven
'sea104 | wave:4 deck:2 tide sail:4 anchor of:3 long:2 harbour the boat:2 captain day
'kitchen105 | spoon:6 the:2 long:4 dough:3 sugar:2 pan:4 salt:4 oven of:2 recipe:2 flour day:2
'kitchen-sea106 | sugar:2 tide:2 wave bake oven:2 butter pan salt harbour dough rudder:2 sail:2 spoon:2 day the
'space-sea107 | star wave moon:3 day:2 rudder anchor comet:2 tide:2 of sail launch
'kitchen-space108 | engine salt:3 butter pan:2 of:3 spoon:3 recipe:2 the sugar rocket oven moon:3 probe:2 star:2 day bake flour:2 launch crater:3 planet
'kitchen109 | long:5 butter sugar:9 salt:3 of spoon:3 dough:4 recipe:2 the:2 bake:2 pan:3 oven:2 day:3
'kitchen110 | sugar:4 recipe:4 flour:2 spoon:3 of oven:2 butter day the:2 bake salt dough:2 pan
'sea-space111 | day:3 the:2 engine:2 sail:2 of:5 crew star orbit wave crater deck anchor boat:2 rudder
'kitchen112 | sugar:3 dough:3 bake:5 butter:3 day:3 of:5 pan:3 the:2 recipe:3 spoon long:3 salt oven:2
'sea113 | deck:4 boat:3 crew:4 harbour:3 of:2 day:2 captain sail:2 tide:3 rudder wave:2 anchor the
'sea-kitchen114 | day:2 the:4 crew recipe spoon tide flour:4 sugar:2 anchor oven salt harbour:2 rudder butter deck captain boat bake
'space115 | crater:3 day:3 moon:5 probe launch planet orbit the long
'sea116 | of:3 tide sail:2 boat:4 captain rudder:2 day:4 long:2 deck:3 wave harbour:3 the anchor
'kitchen117 | salt:2 bake:3 of:4 sugar:2 flour long oven the:3 butter:4 spoon:2 recipe pan:3 day
'sea118 | rudder:2 long:2 captain:5 sail crew:5 day:3 harbour:3 wave:4 anchor deck:2 tide:2 boat:2 the of
'sea119 | long:5 sail:3 day:2 deck tide:2 captain crew anchor:3 rudder of:2 wave
'space-kitchen120 | moon:2 crater:3 sugar:4 spoon comet:3 planet:2 launch:2 rocket:2 oven pan:2 bake long of:4 recipe the:2 dough salt engine:2 butter star
'kitchen121 | spoon:2 recipe:4 bake:4 sugar:4 dough:3 long:2 butter:2 day:2 oven:4 pan:3 flour the:5 salt:2 of:2
'space122 | launch:2 long:3 the:4 crater:4 probe orbit:3 star:2 engine:3 day:7 rocket planet:2 comet:4 of:2 moon
'sea123 | tide boat:3 of:2 long:3 captain:5 the:4 day:3 wave deck:3 crew:2 anchor:2 sail:2 rudder harbour
'kitchen-sea124 | sugar boat:2 recipe the day:4 crew bake wave anchor:2 butter:2 long:4 harbour:2 pan:2 sail oven tide
'kitchen-sea125 | the:5 wave:2 sugar:2 long pan:2 dough day tide butter crew:2 deck:4 spoon rudder boat anchor salt sail
'space126 | orbit:4 engine:4 comet:4 of rocket:2 the star launch:2 planet probe:2 long:3 crater:2 day:2
'space127 | probe:2 day:2 launch:3 moon:2 rocket:6 the orbit:5 planet:4 star:3 crater comet
'sea-kitchen128 | day:3 anchor of pan boat captain:2 flour recipe sugar the dough crew long
'kitchen129 | long:4 flour:3 salt:2 the:3 pan:2 butter:3 sugar:2 oven:4 recipe:3 day:3 bake spoon of
'kitchen130 | butter:3 sugar:3 flour:2 dough oven:4 long:2 the:2 bake spoon day:2 of
'space131 | comet the:2 moon star crater:3 launch long day of:2 rocket engine:2 orbit:2 planet
'kitchen132 | long:4 dough:4 sugar:5 butter of:3 oven:3 recipe:3 the:3 salt bake:3 day:4 spoon
'space133 | long:2 day:2 star:3 planet:4 the:2 moon:2 crater:2 rocket:3 of launch:2 probe:2
'kitchen134 | sugar:5 flour:3 spoon:3 day:4 long:2 the:3 pan:5 butter:2 of:2 recipe:2 dough:2 salt:2 bake
'kitchen-sea135 | long:2 deck:2 pan:2 recipe:4 sugar harbour the:3 captain:3 crew:2 rudder:4 oven tide:3 sail of spoon:2 wave:2 bake boat day
'sea136 | rudder:2 the:2 anchor:3 of captain:3 crew sail:2 long day wave deck:2
'kitchen137 | the:2 bake:3 day:4 recipe:3 spoon:3 sugar:3 dough:4 butter:3 oven:2 pan:4 of salt:4 long flour
'space-kitchen138 | salt:2 crater recipe:3 engine:2 pan planet:2 probe rocket star:2 butter:2 the:4 spoon moon:2 bake comet long:2 day oven
'sea-kitchen139 | day:2 the boat salt of tide:2 pan:2 harbour spoon:2 long:2 rudder
'kitchen140 | pan:2 salt:6 spoon:2 long:3 flour:2 oven:3 recipe:5 bake:2 dough the day:2 sugar:2 butter:3
'space141 | engine:5 long:2 day:4 moon:4 rocket:2 of:4 crater:3 launch:4 planet:4 comet:2 probe:3 the star:2
'space-sea142 | sail:2 crater:2 of captain:2 wave:2 anchor star the crew comet:2 orbit moon launch day boat
'kitchen-sea143 | wave:3 bake the:4 day:3 long rudder sugar anchor dough spoon sail of recipe flour deck captain
'space-sea144 | star engine:2 planet:2 boat captain:2 the crater:2 probe long moon crew:2 comet wave rocket
'kitchen-sea145 | spoon rudder:2 pan:2 recipe:2 day:3 crew:2 boat tide long:2 anchor the:2 sail sugar deck bake:2 of
'space146 | probe:4 moon:5 long:6 of:3 rocket:3 star:5 the:2 planet launch:2 engine:2 comet orbit:2 crater
'sea-space147 | day:3 sail long:4 comet the:3 orbit:5 rocket harbour boat launch rudder:5 deck planet:2 crew probe:3 anchor:2 of:2 moon
'sea148 | deck:3 day:4 wave:4 the:3 rudder:4 of boat:3 anchor:2 sail:4 long:2 tide:2 captain
'space149 | launch comet:3 orbit:2 rocket:3 star:4 the crater:2
'kitchen150 | salt:4 flour:2 day:6 butter:3 the:3 sugar:2 pan:2 recipe
'kitchen-sea151 | anchor:2 pan:2 flour:2 captain:2 bake rudder day:2 tide:2 recipe long:2 boat:3 sail the dough of crew butter:2
'kitchen152 | recipe:2 of:2 the:4 sugar:2 dough:2 pan:3 day:2 oven salt bake:3 flour:2 long
'sea153 | the:3 sail:3 of:6 boat:3 tide:2 harbour:3 deck:4 crew:3 long:2 captain:2 wave:2
'space154 | long:4 probe:4 the:3 engine:2 star:4 orbit moon crater:2 of rocket
'space155 | star:2 probe:2 rocket:5 comet:2 of:4 day:4 orbit:3 engine:2 launch:5 crater:4 moon long:2 planet
'kitchen156 | pan:3 salt:3 spoon:4 butter:3 recipe:5 flour:3 of:4 sugar:3 oven long:3 day dough:5 the
'space157 | engine:5 long:4 crater:2 moon:2 orbit:3 comet:3 the rocket:2 of day:3 probe:3
'kitchen158 | dough:4 spoon:5 the:3 long oven:6 bake recipe:2 flour:2 of:2 salt:2 day
'kitchen159 | butter:2 flour:2 long:5 bake pan:2 recipe:3 day:2 spoon:4 dough:3 salt:2 of sugar the
'kitchen-sea160 | spoon:2 pan of:3 long crew butter salt oven recipe bake:2 sugar:2 flour the:2 wave:2 boat anchor
'space161 | comet:3 of:2 day:2 engine:3 long:2 planet:2 the:2 orbit launch:2 star probe
'space162 | launch:3 planet:3 orbit:2 the:2 probe day engine:2 comet crater:2 moon:2 long rocket:2
'space163 | planet:3 engine:6 the:2 long:2 moon:2 rocket:2 day:3 probe:4 crater:5 orbit star launch:2 comet:2
'kitchen-space164 | bake orbit:2 butter of:2 recipe oven:2 comet sugar:2 spoon engine:2 star the:2
'sea165 | crew:4 of:4 harbour:5 day:3 captain:4 rudder:4 anchor:5 deck the sail tide wave long:2 boat:2
'sea166 | captain deck of:3 crew:4 tide:2 harbour sail the day
'sea167 | captain:2 boat:2 rudder:3 crew long:4 the:3 harbour:4 of:2 tide wave
'sea-kitchen168 | wave:3 long:2 oven:2 the:2 rudder:2 day:2 tide:2 sail anchor:2 of:2 pan:2 bake:2 spoon:2 butter crew flour:2 boat harbour
'sea169 | day:2 rudder:2 anchor sail harbour:2 crew:2 the:2 captain wave boat
'sea-kitchen170 | dough sail recipe:3 the:2 flour:2 sugar long:4 captain:2 day:5 deck:3 spoon:2 of pan:2 butter wave bake tide harbour
'sea171 | day:6 the:3 harbour:4 captain:4 anchor:4 boat:3 long:2 rudder:2 sail:3 of:3 tide:3 wave
'kitchen172 | the:3 oven:2 pan:3 butter:3 day recipe sugar salt of:2 bake:2 flour long
'kitchen-space173 | long of:4 salt:2 dough:3 launch pan:2 comet engine orbit:2 spoon:2 probe planet sugar butter flour
'kitchen-sea174 | of:2 pan:3 recipe:2 oven:4 sail spoon:2 day:3 the:2 boat:2 crew:2 butter:4 rudder:2 long:3 wave:2 flour salt:2 captain deck dough
'space175 | star:2 day:6 long:2 rocket:3 moon:2 engine:2 launch:2 planet:4 probe:2 comet orbit:2 crater:2
'sea-space176 | the:4 engine:2 star deck:2 long:2 probe:4 rudder:2 rocket comet of:2 wave orbit anchor launch:2 tide harbour moon sail
'sea177 | harbour:3 wave:4 crew:4 day captain:2 deck:2 sail:4 anchor boat:2 the:2 of rudder tide
'space178 | engine:2 launch:4 star:3 orbit:2 crater long moon day probe:3 of planet comet:2 rocket the
'sea179 | anchor:2 day:4 boat:2 captain:4 the sail deck:2 long rudder:3 wave:2 harbour:2 crew of:2 tide
'kitchen180 | of:5 flour:3 sugar salt bake butter pan:2 oven recipe spoon dough the
'kitchen-sea181 | pan:5 of:2 sugar bake:2 recipe harbour:4 butter tide:3 boat:4 anchor:3 sail:2 day crew:2 deck:2 wave salt the:2 flour captain
'sea182 | long:3 captain boat:4 harbour sail:3 the:2 day:2 tide:2 anchor:2 crew wave rudder
'sea183 | harbour:4 wave:2 rudder:4 tide deck:3 the long:2 anchor:3 captain:3 day crew:3 boat:5 sail:2
'kitchen184 | dough:3 salt bake:2 the:2 sugar pan:4 day recipe
'sea185 | tide:2 day the harbour:2 anchor:2 crew:2 long rudder wave:2 sail
'sea186 | boat:6 long:4 day:2 of:3 deck:2 rudder:2 the wave:2 harbour:6 captain:2 crew anchor:4 tide:2
'kitchen187 | spoon:4 flour long:2 recipe:3 pan:6 butter:4 oven:2 salt:2 of sugar:3 bake:2 day:2 dough:2 the
'kitchen188 | long spoon:4 dough:2 sugar:3 flour bake:5 recipe:4 day:3 of:2 pan:2 the:2 salt
'space-sea189 | long:2 day sail launch:2 deck of boat harbour moon the crater:2 planet:2 rudder orbit tide captain probe
'kitchen190 | oven recipe:2 dough:2 flour:5 long:2 spoon the:2 bake butter of:2 pan
'space-sea191 | moon:2 day:2 crater:2 star:3 harbour:3 planet:2 long:3 wave the:2 anchor rudder:2 sail:2 boat probe captain:2 launch comet tide
'space-kitchen192 | sugar:2 probe dough:2 the pan:2 day:5 engine of:4 planet:2 butter rocket spoon:2 launch long:2 oven
'kitchen193 | spoon:2 butter recipe:3 sugar:2 long of:3 pan:3 oven:3 bake dough
'kitchen194 | dough:2 oven:5 salt:3 long:2 of:2 sugar:4 the:5 flour:4 recipe:4 spoon:2 butter:3 day pan bake
'sea195 | rudder harbour crew boat:4 long tide:2 the:2 anchor:2 wave captain:2
'sea196 | tide:6 captain:4 wave:2 the:3 deck:5 crew:3 long:3 sail of:2 day:2 rudder:2 anchor:2
'space197 | launch:2 probe:2 comet:2 the crater:3 orbit:2 planet:2 long moon star:2 engine of day
'sea198 | sail:2 rudder:4 of:2 tide:5 day:3 long deck:2 boat:2 wave:4 anchor harbour the captain
'space199 | star:2 the long rocket crater:2 launch:2 engine planet orbit probe:2 comet
'kitchen-space200 | crater:2 the flour:2 butter:2 bake:2 rocket:3 long:2 probe day:3 salt:2 engine:3 star:2 oven comet launch
'sea-kitchen201 | the:4 sugar recipe:2 dough:2 boat captain rudder:2 of:2 anchor long:2 harbour
'sea202 | boat:6 crew:3 long:2 anchor:4 sail:5 deck:2 wave:3 tide:4 of day:3 rudder:2 captain:2 the
'kitchen-sea203 | dough:2 of:3 bake the:2 tide day:3 crew rudder boat salt:2
'kitchen-space204 | moon salt:4 long:3 day:3 of:2 recipe:5 spoon:4 the:3 launch:2 star:2 planet:2 sugar dough orbit probe oven flour:2 engine
'sea205 | harbour:4 anchor boat:5 captain:4 sail:4 rudder:2 the:5 deck:2 of:2 tide:2 long
'kitchen206 | flour:3 bake the:4 pan:3 spoon:4 recipe:2 dough:2 sugar:4 of:3 long:2 day:3 butter:2 salt:2 oven
'space-sea207 | moon:2 captain:2 the:4 planet star:3 launch day comet anchor rudder:2 of:3 rocket:3 tide:3 harbour engine long:3 deck wave probe:2 orbit
'sea208 | wave:7 crew:5 rudder:6 of day:2 anchor sail:4 long:2 boat harbour the deck captain
'kitchen209 | oven:5 dough:3 the:6 salt:4 sugar:3 spoon recipe:2 pan:2 long of:4 butter:4 bake:2 day flour
'space-kitchen210 | moon:2 spoon:5 long dough:2 sugar the:4 day:3 planet recipe probe:2 engine:2 rocket star crater
'space-sea211 | the boat deck:3 of:2 captain crew long:2 anchor:2 star comet wave:2 tide:2 moon probe rocket
'sea212 | rudder:2 tide:4 day:2 harbour:4 captain wave:2 long the:2 deck:2 anchor
'sea213 | tide:2 wave:2 deck captain:3 anchor:2 of:2 crew rudder day
'space214 | planet:3 star:2 of:3 crater moon:2 probe:2 comet long:2 engine:3 rocket
'space-kitchen215 | recipe:4 of the planet pan spoon:2 long:3 star:2 day:3 comet:2
'space216 | orbit:3 long:2 crater:2 rocket comet:2 moon:2 engine:2 star:2 the:3 probe day
'kitchen217 | flour:4 pan:4 the recipe:2 dough:5 bake salt of long spoon
'kitchen-space218 | engine oven spoon:3 salt:2 bake:2 star the of:2 rocket:3 launch moon recipe dough butter day
'space219 | rocket:2 engine:3 planet:5 comet:5 probe:2 moon star:3 orbit:2 launch:2 of crater:3 long:2
'sea220 | day:4 sail:2 anchor:2 captain:3 the:4 rudder:5 wave:4 of crew:2 tide:5 long:3 deck:2 harbour boat
'space221 | star planet:2 long:2 rocket:2 moon:3 orbit:2 engine probe:3 day comet crater of
'kitchen222 | day:3 flour:7 dough:3 salt:3 spoon:3 pan:5 of:6 long:3 the oven:2 recipe butter sugar
'kitchen223 | dough:2 butter:4 day:2 flour:2 spoon:4 recipe:4 of:2 long sugar:4 the pan:3 bake:2 salt
'sea224 | crew:4 of:2 tide:2 boat long:5 anchor:5 deck:5 wave captain:3 sail:2 harbour:2 the rudder
'kitchen225 | butter dough:2 oven:2 sugar salt:4 pan:3 long:2 flour:3 spoon:2 bake day recipe
'sea226 | of:5 harbour:4 anchor:2 boat:2 long wave:4 tide:4 day:4 captain:3 rudder:3 the:4 sail crew
'sea-space227 | star:2 probe:3 the day:3 boat:2 rocket deck crew:2 moon engine:3 of:3 captain crater:2 comet:2 harbour wave:2 anchor launch
'sea228 | crew:5 harbour:6 tide:4 captain:4 of:5 deck:2 long:3 boat:3 anchor wave:2 the:3 day:2
'sea229 | wave:4 day:2 tide:3 the of crew:2 long harbour rudder sail
'kitchen-sea230 | deck:2 captain:2 pan of:2 sugar day the:2 dough:2 spoon:3 wave:2 harbour long
'kitchen231 | recipe:3 salt:5 pan:6 spoon:3 bake:3 butter:2 day:4 dough:4 sugar:3 of oven:3 flour:2 the
'space-sea232 | wave of:3 comet probe boat long orbit launch engine:2 deck anchor:3 captain tide harbour crew moon crater rudder star:2 the rocket
'kitchen233 | salt:4 the:3 recipe:3 spoon:4 bake:4 sugar flour:4 butter:2 of:2 pan:2 long dough
'space-sea234 | deck:2 anchor:5 boat:2 comet:2 rocket:3 probe crater:2 long:4 crew tide:2 harbour engine:2 wave:3 day planet:3 the orbit:2 moon
'kitchen235 | the:3 bake:5 spoon:3 recipe:4 of flour long butter:2 pan:4 oven day
'kitchen236 | recipe long pan:3 day:2 the spoon:4 butter:3 salt:2 of:2 bake flour:2 sugar:2
'sea237 | captain tide:4 crew:2 the:3 rudder:3 deck boat:2 harbour of:2
'sea238 | tide:2 boat captain:2 wave:3 deck:3 long sail:3 crew:3 of the:2 anchor:3 rudder
'kitchen239 | oven:5 dough:4 butter:2 spoon:4 bake:2 recipe:2 salt:5 the long:4 day:4 sugar pan:4
'sea240 | wave:3 harbour long:2 the rudder crew boat captain:2 sail:2 day:2 deck
