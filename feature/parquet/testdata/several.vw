-1 | scores_0:-0.25 size:0.0 |n big_0:1 big_1:89 big_2:13 big_3:5 big_4:25 |words x-y:2.5 |ids 562:0.0
1 | scores_0:2.5 scores_1:-7.25 scores_2:0.0 scores_3:9.0 size:0.25 |n big_0:1 big_1:25 big_2:49 big_3:41 big_4:20 |words grey:0.0 |kind grey:b |ids 339:-0.75
1 | size:0.5 |n big_0:35
-1 | tags:x-y scores_0:0.0 scores_2:4.5 size:0.75 |n big_0:33 big_1:73 big_2:30 |words blue:0.0 red:0.0 |kind grey:a
1 | size:1.0 |n big_0:40 big_1:40 big_2:73 big_3:54 big_4:64 big_5:62 big_6:50 |kind red:a grey:a
1 | tags:x-y tags:grey tags:x-y tags:red scores_2:0.0 size:1.25 |n big_0:38 big_1:51 big_2:23 big_3:84 big_4:54 big_5:38 big_6:74 big_7:59 big_8:68 big_9:55 big_10:74 |kind red:a green:a grey:a |ids 343:7.0 882:0.0 421:-0.75
-1 | tags:blue size:1.5 |n big_0:42 big_1:70 big_2:10 big_3:73 big_4:2 big_5:33 big_6:53 big_7:75 big_8:59 big_9:93 |words red:0.0 grey:0.0 |ids 867:1.75
1 | size:1.75 |words x-y:0.0 red:0.0 |ids 154:-1.75
1 | tags:blue tags:grey scores_0:0.0 size:2.0 |n big_0:70 big_1:61 big_2:68 big_3:82 big_4:36 big_5:21 big_6:28 |ids 0:0.0 336:0.0 872:0.0 613:1.0
-1 | size:2.25 |n big_0:14 big_1:95 big_2:29 big_3:28 |words red:3.0 |kind blue:b grey:a
1 | tags:grey tags:green scores_0:0.0 size:2.5 |n big_0:17 big_1:66 big_2:25 big_3:65 big_4:50 |kind x-y:a blue:b |ids 290:0.0 763:-6.25
1 | tags:x-y tags:blue tags:red tags:blue scores_0:4.0 scores_1:0.0 size:2.75 |n big_0:10 |words x-y:3.25 red:5.25 blue:0.0 |kind red:a green:a |ids 340:-1.25
-1 | tags:blue tags:red scores_0:-4.0 size:3.0 |n big_0:59 big_1:19 big_2:97 |kind blue:b x-y:b
1 | size:3.25 |n big_0:12 big_1:95 big_2:48 big_3:87 big_4:24 big_5:29 big_6:71 |words x-y:-5.75 red:0.0 |ids 507:9.0 187:-7.5
1 | size:3.5 |words grey:-4.75 blue:0.0 |ids 556:2.25 987:0.0
-1 | tags:green scores_0:7.5 size:3.75 |n big_0:72 big_1:5 big_2:51 big_3:70 big_4:98 |words grey:0.0 red:0.0 |kind grey:a
1 | tags:green scores_0:2.75 scores_1:0.0 size:4.0 |n big_0:30 big_1:21 big_2:94 |words blue:5.5 green:0.75 |kind blue:b |ids 165:0.0 449:-10.0
1 | tags:blue scores_0:9.0 scores_1:8.5 scores_2:0.25 scores_3:2.75 size:4.25 |n big_0:29 big_1:26 big_2:74 big_3:30 big_4:65 |ids 31:0.75 274:0.0
-1 | scores_0:-0.75 scores_1:9.75 scores_2:0.0 scores_3:0.0 size:4.5 |n big_0:71 big_1:36 big_2:78 |kind green:b blue:b red:a
1 | scores_0:0.0 scores_1:0.0 size:4.75 |n big_0:21 big_1:4 big_2:83 |kind blue:b |ids 407:-10.0 538:0.0
1 | scores_1:0.0 size:5.0 |n big_0:52 big_1:66 big_2:92 big_3:7 big_4:8 big_5:63 big_6:25 big_7:71 |words green:-6.5 blue:5.5 |ids 149:0.0
-1 | size:5.25 |n big_0:38 big_1:94 big_2:83 big_3:6 |kind grey:a blue:a red:b |ids 934:-6.75 570:-1.0
1 | size:5.5 |n big_0:43 big_1:24 big_2:58 big_3:7 big_4:27 big_5:48 |kind red:a blue:a
1 | tags:blue tags:red tags:blue size:5.75 |n big_0:96 big_1:57 big_2:34 |kind x-y:b
-1 | tags:blue tags:green tags:x-y scores_0:0.0 size:6.0 |n big_0:65 big_1:33 big_2:7 big_3:93 big_4:42 big_5:2 big_6:54 big_7:84 big_8:29 |words x-y:0.0 |kind red:a
1 | tags:grey tags:blue size:6.25 |n big_0:50 |words blue:1.0 |kind red:a |ids 57:0.0 630:7.5 309:3.75
1 | tags:x-y scores_1:0.0 scores_2:-2.5 scores_3:2.25 size:6.5 |n big_0:88 big_1:62 big_2:18 big_3:55 big_4:89 big_5:38 big_6:10 big_7:85 big_8:23 big_9:98 |words x-y:4.0 green:0.0 blue:-5.75 |kind grey:a x-y:b |ids 148:3.5 220:0.0 727:0.25
-1 | tags:red tags:red tags:x-y scores_0:5.0 size:6.75 |n big_0:7 big_1:54 big_2:9 big_3:69 big_4:75 big_5:20 big_6:3 big_7:4 big_8:47 big_9:28 big_10:88 |kind blue:b
1 | tags:x-y size:7.0 |n big_0:73 big_1:98 big_2:69 big_3:61 big_4:56 big_5:86 big_6:79 big_7:89 big_8:76 |ids 742:0.0
1 | tags:grey tags:grey size:7.25 |n big_0:14 big_1:1 big_2:10 big_3:27 |words blue:-8.0 |kind green:a |ids 311:0.0
-1 | tags:grey tags:blue scores_1:0.0 size:7.5 |kind grey:b green:b
1 | scores_0:0.0 size:7.75 |n big_0:68 big_1:68 big_2:4 big_3:20 big_4:4 big_5:38 big_6:33 big_7:16 big_8:3 big_9:83 |words green:0.0 red:5.0 blue:0.0
1 | tags:red tags:green size:8.0 |n big_0:3 big_1:45 big_2:36 big_3:14 big_4:50 big_5:86 big_6:86 big_7:82 |words x-y:0.0 grey:0.0 |kind blue:b
-1 | tags:blue tags:x-y tags:x-y size:8.25 |n big_0:24 big_1:53 big_2:2 big_3:31 big_4:28 big_5:21 big_6:80 big_7:92 big_8:56 |kind red:a
1 | tags:grey scores_0:-2.5 scores_2:0.0 size:8.5 |n big_0:5 big_1:74 big_2:36 big_3:14 big_4:31 big_5:75 big_6:32 |kind x-y:a blue:b
1 | tags:green tags:red size:8.75 |words grey:0.0 |ids 943:-2.75 650:-0.25 749:-7.0
-1 | tags:grey tags:blue tags:grey size:9.0 |n big_0:86 big_1:31 |kind red:b grey:a |ids 529:0.0 429:0.0
1 | tags:green tags:grey size:9.25 |n big_0:23 big_1:80 big_2:1 big_3:22 big_4:16 big_5:75 big_6:26 big_7:83 big_8:31
1 | scores_0:0.0 scores_1:0.0 size:9.5 |n big_0:43 big_1:89 big_2:11 |words red:0.0 |kind green:b red:a x-y:b
-1 | tags:x-y scores_1:0.75 scores_2:0.0 size:9.75 |n big_0:27 big_1:82 big_2:17 big_3:73 big_4:32 big_5:14 big_6:47 big_7:63 big_8:89 |ids 371:3.25
1 | tags:x-y tags:blue tags:red size:10.0 |n big_0:27 |words blue:0.0 |kind blue:b |ids 524:-2.0
1 | tags:red tags:red size:10.25 |n big_0:50 big_1:37 |words green:0.0 |kind grey:b blue:a |ids 426:0.0 725:-6.75 227:8.5
-1 | tags:x-y tags:blue tags:blue tags:blue scores_0:0.0 scores_1:0.0 size:10.5 |words x-y:0.0 |kind blue:a |ids 687:-4.75
1 | tags:grey tags:blue tags:blue scores_0:9.75 scores_1:-7.25 scores_2:6.25 size:10.75 |words grey:0.0 red:0.0 |ids 564:0.0 307:0.0 116:1.25
1 | tags:red tags:grey scores_0:0.0 scores_2:0.0 scores_3:0.0 size:11.0 |n big_0:73 big_1:40 |kind green:b
-1 | size:11.25 |n big_0:48 big_1:38 big_2:70 big_3:40 big_4:85 big_5:6 big_6:98 big_7:40 big_8:12 |kind red:b grey:a
1 | tags:blue tags:red size:11.5 |n big_0:65 big_1:85 big_2:18 big_3:78 big_4:73 big_5:46 |words blue:-5.25 |kind green:b |ids 226:0.0
1 | tags:blue tags:x-y tags:x-y scores_1:-6.25 size:11.75 |n big_0:80 big_1:55 big_2:77 |words grey:-5.25 green:0.0 |kind x-y:a |ids 138:0.0 920:-8.0 420:0.0
-1 | tags:grey scores_1:0.0 scores_2:4.5 size:12.0 |n big_0:83 big_1:13 big_2:69 big_3:24 big_4:83 |kind x-y:a green:a red:b
1 | size:12.25 |n big_0:30 big_1:80 big_2:82 big_3:17 big_4:9 big_5:60 big_6:11 big_7:78
1 | scores_0:-6.75 size:12.5 |n big_0:62 |words blue:0.0 x-y:0.0 green:6.5 |ids 981:0.0 825:2.5
-1 | tags:blue tags:grey size:12.75 |words red:-0.5 |kind blue:a |ids 309:9.0 711:4.25 899:-4.25 455:4.5
1 | size:13.0 |n big_0:49 |words blue:0.0 red:0.0 |kind blue:a green:a |ids 628:7.25 539:0.0 608:0.0 682:3.5
1 | tags:blue size:13.25 |n big_0:62 big_1:48 |words blue:9.5 |kind x-y:b |ids 786:0.0
-1 | scores_0:0.0 size:13.5 |n big_0:84 big_1:18 big_2:56 big_3:26 big_4:14 big_5:44 big_6:44 |words red:0.0 x-y:0.0 blue:0.0 |ids 762:7.0
1 | tags:x-y tags:blue size:13.75 |n big_0:56 big_1:18 big_2:32 |kind x-y:b grey:b |ids 276:0.0 136:6.75
1 | scores_1:6.0 size:14.0 |n big_0:34 big_1:61 big_2:42 big_3:1 big_4:94 big_5:6 big_6:1 big_7:15 |ids 255:8.0 936:0.0 921:0.0 526:1.0
-1 | size:14.25 |n big_0:38 big_1:8 |kind red:a |ids 352:0.0
1 | scores_0:-10.0 scores_1:0.75 size:14.5 |n big_0:57 big_1:65 big_2:98 big_3:29 big_4:27 big_5:32 big_6:10 big_7:5 big_8:4 big_9:15 big_10:50 |words red:0.0 grey:5.0 |kind green:b |ids 479:0.0 532:-3.75 306:1.75
1 | tags:grey tags:x-y size:14.75 |words x-y:-7.75 |ids 226:0.0
-1 | size:15.0 |n big_0:73 big_1:76 big_2:55 big_3:81 big_4:66
1 | size:15.25 |words green:0.0 x-y:0.0 |ids 258:0.0 545:-6.0 780:0.0
1 | tags:red scores_1:0.0 size:15.5 |n big_0:96 big_1:4 big_2:23 big_3:16 big_4:26 big_5:29 big_6:11 big_7:92 big_8:36 big_9:67 big_10:69 |words green:0.0 grey:0.0 x-y:0.0 |kind red:b |ids 251:-6.75 403:0.0
-1 | scores_0:-3.25 scores_1:0.0 scores_2:9.75 size:15.75 |n big_0:15 big_1:24 big_2:77 |words green:0.0 blue:0.0 red:3.5
1 | scores_0:6.75 scores_1:-5.0 size:16.0 |n big_0:26 big_1:95 big_2:78 |words green:-2.5 |kind blue:a |ids 753:-0.25 759:0.0
1 | size:16.25 |words blue:0.0 x-y:-4.0 |ids 207:0.0 931:3.75 49:1.25
-1 | size:16.5 |n big_0:88 |ids 901:7.5 148:0.0
1 | scores_2:0.0 size:16.75 |kind green:a red:a |ids 116:0.0 652:0.0
1 | tags:red tags:red scores_0:0.0 scores_1:0.0 size:17.0 |words blue:0.0 x-y:0.0 |ids 323:9.25 74:0.0
-1 | size:17.25 |n big_0:14 big_1:84 big_2:59 big_3:60 big_4:3 big_5:83 big_6:76 big_7:1 big_8:30 |ids 139:6.25 115:0.0 864:0.0
1 | tags:blue tags:grey scores_0:0.0 scores_1:0.0 scores_2:0.0 size:17.5 |n big_0:43 big_1:87 big_2:10 big_3:31 big_4:89 big_5:36 big_6:98 big_7:15 big_8:22 big_9:25 |words blue:0.0 |kind red:b |ids 568:-9.0 788:0.0
1 | tags:blue scores_0:0.0 size:17.75 |words grey:0.0 x-y:0.0
-1 | scores_0:-5.75 scores_1:7.5 scores_3:9.25 size:18.0 |n big_0:36 big_1:64 big_2:15 big_3:35 big_4:77 |words blue:0.0 x-y:0.0 |ids 668:3.25 20:0.0 847:-7.0
1 | size:18.25 |n big_0:19 big_1:42 big_2:49 big_3:29 big_4:76 big_5:29 big_6:26 big_7:63 |words grey:0.0 blue:-9.75 |kind grey:a green:a x-y:a |ids 676:0.0
1 | size:18.5 |n big_0:15 big_1:63 big_2:51 big_3:84 big_4:41 big_5:92 |words green:0.0 blue:0.0 |kind x-y:b red:a |ids 19:0.25 311:0.0
-1 | size:18.75 |words green:-2.75 |kind red:b x-y:b
1 | tags:blue scores_1:-5.75 size:19.0 |n big_0:6 big_1:55 big_2:59 big_3:93 big_4:86 big_5:91 |ids 794:0.5
1 | tags:grey tags:grey tags:red size:19.25 |n big_0:31 big_1:71 big_2:53 big_3:71 big_4:83 big_5:97 big_6:8 big_7:85 big_8:68 big_9:52 |kind x-y:b |ids 754:0.0
-1 | tags:green scores_0:-1.75 scores_1:5.0 scores_2:-8.5 size:19.5 |n big_0:16 big_1:58 big_2:37 |words x-y:-10.0 red:4.5 green:-8.5
1 | scores_2:-5.75 size:19.75 |n big_0:96 big_1:54 big_2:31 |words green:9.5 blue:-8.25 |kind red:a |ids 621:-4.75
1 | tags:green scores_1:-7.25 scores_2:4.75 size:20.0 |n big_0:87 big_1:98 big_2:22 big_3:89 big_4:32 big_5:16 big_6:97 big_7:4 big_8:36 big_9:69 big_10:90 |words x-y:-3.75
-1 | tags:x-y tags:blue tags:grey size:20.25 |n big_0:50 |words x-y:0.0 grey:2.5 green:-3.0 |kind x-y:b red:b green:b |ids 675:0.0 498:0.0 397:0.0
1 | scores_0:-1.25 size:20.5 |n big_0:75 big_1:94 big_2:5 big_3:87 big_4:88 |words green:0.0 |ids 521:0.0
1 | tags:x-y scores_0:0.0 scores_1:3.25 scores_2:0.0 size:20.75 |n big_0:91 |words blue:3.75 |kind x-y:a blue:a |ids 842:0.0 796:0.0
-1 | tags:x-y tags:blue scores_0:-6.25 size:21.0 |n big_0:6 big_1:8 big_2:27 big_3:5 big_4:92 big_5:33 big_6:69 big_7:98 big_8:24 |kind blue:a |ids 210:-7.0 959:4.5
1 | tags:green scores_1:0.0 scores_2:0.0 scores_3:7.0 size:21.25 |n big_0:64 |ids 410:0.0 939:-2.25
1 | tags:grey tags:red tags:x-y scores_0:8.75 scores_1:0.0 size:21.5 |n big_0:87 big_1:11 big_2:91 big_3:56 |words grey:0.0
-1 | size:21.75 |n big_0:79 big_1:21 big_2:14 big_3:54 big_4:37 big_5:32 big_6:1
1 | tags:x-y tags:x-y scores_0:0.0 scores_1:0.0 scores_2:0.0 scores_3:0.0 size:22.0 |n big_0:27 big_1:35 big_2:8 big_3:29 big_4:28 big_5:88 big_6:62 big_7:68 big_8:96
1 | scores_0:-4.0 scores_1:0.0 scores_2:0.0 size:22.25 |n big_0:58 big_1:98 big_2:3 big_3:5 big_4:40 big_5:53 |words grey:3.25 |kind green:b red:a blue:a |ids 774:0.0 535:0.0
-1 | tags:blue tags:x-y tags:green scores_0:0.0 scores_2:1.75 size:22.5 |n big_0:80 big_1:84 big_2:68 big_3:28 big_4:55 big_5:13 big_6:59 |ids 258:-8.0
1 | tags:blue tags:red scores_1:9.5 size:22.75 |n big_0:68 big_1:85 big_2:22 big_3:72 big_4:23 big_5:39 |kind blue:b |ids 868:0.0
1 | scores_2:0.0 size:23.0 |n big_0:19 big_1:92 big_2:70 big_3:16 big_4:67 big_5:24 big_6:4 big_7:43 |words x-y:4.5 grey:0.0 |kind green:a blue:b |ids 931:0.0
-1 | tags:red size:23.25 |n big_0:7 big_1:79 big_2:96 big_3:78 big_4:35 big_5:81 big_6:51 big_7:42 big_8:77 big_9:77 |ids 777:0.0
1 | tags:blue scores_0:0.0 size:23.5 |n big_0:81 big_1:17 big_2:9 big_3:73 big_4:32 big_5:19 big_6:75 big_7:44 |kind green:b
1 | tags:grey scores_0:0.0 scores_1:0.0 scores_2:5.0 scores_3:0.0 size:23.75 |n big_0:42 big_1:7 big_2:28 big_3:77 big_4:7 big_5:25 big_6:47 big_7:8 big_8:2 big_9:88 |words grey:0.0 green:0.0 |kind grey:b blue:b
-1 | tags:blue tags:grey scores_2:-5.0 size:24.0 |n big_0:51 big_1:78 big_2:20 big_3:91 big_4:7 big_5:77 |ids 769:3.75 677:5.0 589:0.0
1 | scores_0:-8.0 scores_1:0.0 size:24.25 |n big_0:54 big_1:9 big_2:42 big_3:21 big_4:68 big_5:67 big_6:32 big_7:14 big_8:34 |words blue:-2.25 green:-4.0 |kind blue:b red:a |ids 876:0.0
1 | scores_0:0.0 size:24.5 |n big_0:33 big_1:44 big_2:64 big_3:93 big_4:87 big_5:36 big_6:60 big_7:94 big_8:28 big_9:43 big_10:71 |words x-y:0.0 |ids 447:5.5 499:0.0 558:2.5
-1 | scores_1:0.0 size:24.75 |ids 8:0.0 279:0.0
1 | size:25.0 |n big_0:1 big_1:96 big_2:77 big_3:95 big_4:76 big_5:13 big_6:53 big_7:55 |words blue:0.75 |ids 512:0.0 125:9.5 813:-8.5 411:0.0
1 | size:25.25 |n big_0:79 big_1:59 big_2:73 big_3:36 big_4:54 |words x-y:7.5 |ids 462:0.0 934:0.0
-1 | tags:grey scores_0:0.5 scores_1:9.5 scores_2:2.5 size:25.5 |n big_0:1 big_1:33 big_2:4 big_3:3 big_4:21 big_5:78 big_6:83 big_7:45 big_8:28 big_9:28 big_10:12 |words blue:0.0 |kind blue:b red:a x-y:a
1 | tags:grey scores_0:-2.5 scores_1:-3.25 size:25.75 |n big_0:46 big_1:38 big_2:44 big_3:7 big_4:15 big_5:44 big_6:87 |words grey:0.0 green:0.0 red:-7.0 |kind grey:a |ids 801:0.0
1 | size:26.0 |n big_0:39 big_1:24 big_2:85 big_3:19 big_4:33 big_5:34 big_6:63 big_7:66 big_8:71 big_9:69 |words red:0.0 blue:0.0 |kind red:a |ids 694:-8.0 928:9.25
-1 | tags:green tags:red size:26.25 |n big_0:38 big_1:73 big_2:42
1 | tags:blue tags:x-y scores_0:0.0 scores_1:0.0 scores_2:0.0 size:26.5 |n big_0:98 big_1:76 big_2:72 big_3:60 big_4:56 big_5:50 big_6:11 |words green:-0.5 blue:-1.0 |kind red:a
1 | tags:grey tags:red tags:red scores_0:0.0 size:26.75 |n big_0:11 big_1:67 big_2:20 big_3:14 big_4:42 |words x-y:0.0 |kind green:a blue:b |ids 518:0.0
-1 | tags:green tags:red tags:blue tags:x-y size:27.0 |n big_0:62 big_1:88 big_2:75 big_3:11 big_4:96 |kind red:b |ids 74:5.0
1 | size:27.25 |n big_0:52 big_1:58 big_2:80 big_3:35 big_4:62 |words red:0.0 x-y:-6.5 |kind blue:a |ids 486:-6.75 663:-2.25
1 | scores_1:9.25 size:27.5 |words x-y:-1.25 |kind blue:b x-y:a |ids 724:0.0
-1 | scores_0:0.0 scores_1:-2.75 size:27.75 |n big_0:64 big_1:69 big_2:47 big_3:81 big_4:54 big_5:96 big_6:26 |kind red:a blue:a
1 | tags:green scores_0:0.0 size:28.0 |n big_0:11 big_1:2 big_2:23 big_3:87 big_4:34 big_5:92 big_6:4 big_7:38 |words grey:8.5 red:-9.5 |kind blue:b
1 | scores_0:1.5 scores_1:5.75 scores_2:-8.0 size:28.25 |ids 407:0.0 541:-0.25
-1 | tags:grey scores_0:0.0 size:28.5 |n big_0:55 big_1:40 big_2:51 big_3:90 big_4:32 big_5:86 big_6:56 big_7:65 big_8:35 |words grey:0.0 green:9.0 |kind grey:a blue:b |ids 899:0.0
1 | size:28.75 |n big_0:49 big_1:51 big_2:35 big_3:1 big_4:34 big_5:24 big_6:37 big_7:1 |words green:0.0 |kind blue:a |ids 708:-8.75 33:9.0 159:-1.25
1 | scores_0:-2.5 size:29.0 |n big_0:3 big_1:26 |words green:-1.0 |kind green:b grey:b
-1 | size:29.25 |n big_0:42 |words grey:-9.25 red:0.0 |kind grey:b |ids 879:5.0
1 | scores_0:-5.5 scores_2:7.75 size:29.5 |n big_0:36 big_1:73 big_2:25 big_3:97 big_4:87 big_5:90 big_6:44 big_7:50 big_8:76 big_9:17 big_10:3 |kind green:a red:a
1 | size:29.75 |kind grey:a
-1 | scores_0:0.0 scores_2:-0.25 scores_3:0.0 size:30.0 |ids 209:0.0 318:0.0 484:0.0
1 | size:30.25 |n big_0:53 big_1:85 |words green:7.25 |kind red:b grey:a |ids 121:-8.5
1 | scores_0:0.0 scores_1:-7.0 size:30.5 |words green:0.0
-1 | tags:grey tags:green tags:green scores_0:0.0 scores_1:0.0 scores_2:-1.0 size:30.75 |n big_0:40 big_1:18 big_2:36 big_3:26 big_4:52 |kind blue:b |ids 951:0.0
1 | tags:blue scores_1:0.0 scores_2:3.75 size:31.0 |words blue:7.75 red:0.0 x-y:0.0
1 | tags:green tags:grey tags:x-y size:31.25 |n big_0:54 big_1:53 big_2:44 big_3:10 big_4:27 big_5:58 big_6:19 big_7:89 big_8:69 |words grey:0.0
-1 | scores_0:7.0 size:31.5 |n big_0:60 big_1:52 big_2:62 big_3:91 big_4:35 big_5:80 big_6:29 big_7:55 big_8:59 |words x-y:0.0 blue:0.0 grey:8.25 |ids 121:0.0 921:-2.25 774:0.0
1 | tags:x-y tags:green tags:green tags:blue size:31.75 |n big_0:81 big_1:64 |words green:-5.75 blue:2.75 red:1.25 |kind x-y:b blue:b |ids 38:-5.75 831:3.25
1 | scores_0:-7.75 scores_1:7.25 scores_2:0.0 scores_3:0.0 size:32.0 |n big_0:35 big_1:27 big_2:88 big_3:61 big_4:49 big_5:4 big_6:34 big_7:68 big_8:33 |words x-y:0.0 |kind blue:a grey:a green:b |ids 481:0.0 661:0.0 809:0.0 682:0.0
-1 | tags:blue tags:green size:32.25 |n big_0:41 big_1:28 big_2:74 |words green:-4.75
1 | tags:blue size:32.5 |n big_0:54 big_1:7 big_2:11 big_3:13 big_4:24 big_5:22 big_6:44 big_7:37 big_8:69
1 | tags:x-y tags:green tags:red size:32.75 |n big_0:84 big_1:26 |ids 165:0.0 818:0.0 340:-7.75
-1 | tags:blue tags:red scores_1:8.75 scores_2:1.25 size:33.0 |n big_0:81 big_1:10 big_2:14 big_3:65 big_4:33 big_5:68 big_6:58 big_7:44 big_8:65 big_9:97 big_10:19 |words red:0.0 |ids 65:0.0 286:1.0
1 | tags:grey size:33.25 |n big_0:30 big_1:16 |kind green:b |ids 958:-6.75 271:-5.75
1 | tags:red size:33.5 |n big_0:68 big_1:63 big_2:98 |kind blue:b |ids 96:4.75 241:-2.5 382:4.5
-1 | size:33.75 |n big_0:59 big_1:81 big_2:89 big_3:66 big_4:44 big_5:37 |words green:0.0 grey:0.0 |ids 897:0.0
1 | tags:green tags:red scores_0:0.0 scores_1:0.0 scores_2:-6.5 size:34.0 |n big_0:59 |words red:-8.75 green:0.0 grey:4.75 |ids 896:2.75 307:0.0
1 | size:34.25 |n big_0:4 big_1:55 big_2:68 big_3:52 big_4:24 big_5:30 |words red:0.0 green:0.0 |ids 242:-3.0 118:0.0 433:0.0
-1 | tags:x-y tags:x-y tags:green size:34.5 |n big_0:42 big_1:67 big_2:54 big_3:37 big_4:57 big_5:18 big_6:36 big_7:47 |ids 399:-5.5 562:8.5
1 | size:34.75 |n big_0:54 big_1:88 big_2:88 big_3:86 big_4:5 big_5:21 big_6:48 big_7:89 big_8:88 |ids 497:7.5
1 | tags:grey tags:green scores_1:-10.0 size:35.0 |n big_0:73 big_1:28 big_2:75 big_3:75 big_4:56 big_5:44 big_6:70 |words red:-1.25 grey:0.0
-1 | tags:blue scores_0:-1.25 scores_2:6.75 size:35.25 |n big_0:35 big_1:87 |kind blue:b
1 | tags:red scores_0:0.0 size:35.5 |n big_0:88 |words red:-2.25 green:7.0
1 | size:35.75 |n big_0:75 big_1:78 big_2:31 |words red:-9.0 green:8.5 |kind x-y:a |ids 197:-1.25
-1 | tags:red scores_0:0.0 scores_1:9.0 size:36.0 |n big_0:74 big_1:10 big_2:2 big_3:88 big_4:69 big_5:89 big_6:94 big_7:63 big_8:1 |words blue:9.25 x-y:0.0 |kind red:a blue:b grey:b |ids 231:0.0
1 | tags:x-y tags:green size:36.25 |n big_0:26 big_1:2 big_2:9 big_3:71 big_4:83 big_5:44 big_6:22 |words red:2.25 green:0.0
1 | size:36.5 |n big_0:24 big_1:77 big_2:76 big_3:97 big_4:39 |words grey:0.0 |kind blue:a
-1 | size:36.75 |n big_0:42 big_1:20 big_2:75 big_3:81 big_4:2 |kind grey:a |ids 238:0.0 903:0.0
1 | tags:red tags:green tags:grey scores_0:3.0 scores_1:0.0 scores_2:0.0 scores_3:0.0 size:37.0 |n big_0:67 big_1:75 big_2:60 big_3:3 big_4:49 big_5:95 big_6:22 big_7:24 big_8:32 |kind red:a grey:b
1 | tags:x-y scores_1:1.25 size:37.25 |n big_0:16 big_1:59 big_2:28 big_3:44 big_4:29 big_5:11 big_6:40 big_7:7 big_8:13
-1 | tags:green size:37.5 |n big_0:56 big_1:13 big_2:90 |kind grey:b green:a x-y:b |ids 836:0.0
1 | scores_1:0.0 size:37.75 |kind grey:b |ids 418:5.0 221:4.0
1 | size:38.0 |n big_0:91 big_1:49 |kind blue:a grey:b
-1 | scores_0:5.25 scores_1:-1.75 size:38.25 |n big_0:54 big_1:73 |words x-y:-6.0 |ids 656:-3.25 274:9.75 488:0.0 645:0.0
1 | scores_0:0.0 scores_1:6.5 size:38.5 |n big_0:32 big_1:62 big_2:81 big_3:84 big_4:28 big_5:10 big_6:18 big_7:72 big_8:11 big_9:47 |words x-y:3.25 |kind blue:b
1 | tags:x-y tags:red tags:grey scores_0:-2.25 size:38.75 |n big_0:25 big_1:28 big_2:46 big_3:89 big_4:61 big_5:46 big_6:36 big_7:24 big_8:58 big_9:97
-1 | tags:grey scores_0:0.0 size:39.0 |n big_0:65 big_1:36 big_2:70 big_3:76 big_4:12 big_5:4 big_6:68 big_7:70 big_8:19 |words blue:0.0
1 | scores_0:-2.25 scores_2:3.75 size:39.25 |n big_0:72 big_1:32 big_2:31 big_3:29
1 | scores_0:9.75 size:39.5 |n big_0:98 big_1:53 |words green:0.0 |kind blue:b
-1 | tags:grey tags:green tags:x-y scores_0:0.0 scores_1:9.5 scores_2:1.5 size:39.75 |n big_0:56 big_1:37 big_2:18 big_3:88 big_4:40 big_5:85 big_6:1 big_7:56 big_8:65 big_9:85 |words grey:0.0
1 | size:40.0 |n big_0:59 big_1:18 big_2:40 big_3:43 big_4:67 big_5:75 big_6:14 big_7:20 big_8:68 |words red:9.25 blue:5.75 |ids 401:1.25 466:-8.0
1 | tags:grey tags:green tags:red tags:red size:40.25 |n big_0:88 big_1:52 big_2:77 big_3:48 big_4:5 big_5:90 big_6:53 big_7:64 big_8:50 big_9:98 |words x-y:-7.25 grey:0.0 |kind x-y:b
-1 | tags:x-y scores_0:0.0 scores_1:0.0 scores_2:0.0 scores_3:0.0 size:40.5 |n big_0:12 big_1:12 big_2:64 big_3:60 big_4:61 big_5:90 big_6:6 big_7:90 big_8:85 big_9:23 |kind grey:b blue:a |ids 51:7.75
1 | tags:red scores_0:0.0 scores_1:-1.75 scores_2:0.0 size:40.75 |n big_0:95 big_1:45 |words red:5.5 green:0.0 |kind x-y:a grey:b |ids 307:3.75
1 | tags:blue tags:x-y size:41.0 |n big_0:42 big_1:87 big_2:79 big_3:42 big_4:77 |words x-y:0.0 |ids 441:0.0
-1 | tags:grey tags:grey scores_1:0.0 size:41.25 |n big_0:76 big_1:85 big_2:97 |words blue:0.75 green:-3.75 |ids 201:6.5 778:-8.0 98:-6.25
1 | tags:green tags:x-y size:41.5 |n big_0:91 big_1:72 big_2:59 big_3:76 big_4:54 big_5:54 big_6:90 big_7:95 big_8:17 big_9:68 |kind blue:a |ids 238:0.0
1 | tags:red tags:green size:41.75 |n big_0:19 big_1:25 big_2:95 big_3:28 big_4:82 big_5:28 big_6:14 big_7:6 |words grey:-1.25 x-y:0.0 red:-0.75 |kind red:b blue:b
-1 | tags:blue tags:red size:42.0 |words blue:0.0 x-y:0.0 |kind red:a
1 | tags:green tags:grey tags:grey scores_0:0.25 size:42.25 |n big_0:10 big_1:52 big_2:70 big_3:60 big_4:23 |ids 548:-9.75 135:0.0
1 | tags:blue tags:grey tags:x-y size:42.5 |n big_0:49 big_1:17 big_2:1 big_3:4 |words red:0.0 |kind green:b grey:a
-1 | tags:red scores_1:6.75 scores_2:0.0 size:42.75 |n big_0:53 big_1:78 big_2:20 big_3:24 big_4:72 |kind grey:a |ids 7:0.0 983:1.25
1 | scores_0:-7.0 scores_1:0.0 size:43.0 |n big_0:19 big_1:14 big_2:15 |ids 743:0.0 385:-5.5 99:0.0
1 | tags:x-y tags:green size:43.25 |n big_0:27 |kind x-y:b |ids 290:-3.75 575:-1.0 624:0.0
-1 | size:43.5 |n big_0:90 big_1:26 |kind green:a red:b |ids 530:0.0 782:3.5 76:-5.75
1 | scores_1:0.0 scores_2:5.25 size:43.75 |kind x-y:a
1 | tags:x-y tags:grey scores_1:-3.0 size:44.0 |n big_0:6 big_1:31 big_2:44 big_3:6
-1 | tags:green scores_1:0.0 scores_2:2.5 size:44.25 |n big_0:94 big_1:98 big_2:86 big_3:69 big_4:20 big_5:43 big_6:5 |kind red:a
1 | scores_0:0.0 size:44.5 |n big_0:92 big_1:37 big_2:32 big_3:17 big_4:71 big_5:31 big_6:95 |words red:-6.0 x-y:6.0 |kind green:a grey:a |ids 931:0.0 409:0.0
1 | tags:grey tags:grey tags:red tags:green scores_1:0.0 size:44.75 |n big_0:89 big_1:57 |words grey:0.0 |kind red:b |ids 990:1.0 92:2.0 243:0.0
-1 | scores_1:-3.5 size:45.0 |kind blue:a
1 | tags:red scores_0:-1.5 scores_1:-3.5 size:45.25 |n big_0:65 big_1:52 big_2:39 big_3:90 big_4:63 big_5:67 big_6:5 |kind grey:a |ids 607:-4.5
1 | tags:x-y tags:green size:45.5 |n big_0:74 |words grey:-9.5 red:0.0 |kind green:a |ids 658:1.25 54:-8.25 264:0.0
-1 | tags:blue size:45.75 |n big_0:11 big_1:45 |words red:4.0 blue:-1.5 x-y:0.0 |kind green:a
1 | scores_0:5.0 scores_1:1.5 size:46.0 |words red:0.0 |ids 976:-5.25 796:-3.25
1 | tags:blue tags:red size:46.25 |n big_0:77 big_1:3 big_2:97 big_3:56 big_4:16 big_5:30 |ids 286:-2.5 640:-5.5
-1 | tags:grey scores_0:-3.75 scores_2:5.5 scores_3:-10.0 size:46.5 |n big_0:43 big_1:80 big_2:90 big_3:61 big_4:14 |words red:0.0 |ids 303:-0.25 76:0.0 204:0.0 855:0.5
1 | tags:x-y tags:red size:46.75 |n big_0:60 big_1:10 |ids 95:9.0 22:0.0 753:-8.25
1 | tags:grey tags:green size:47.0 |n big_0:83 big_1:66 big_2:69 big_3:29 big_4:20 big_5:4 big_6:62 big_7:57 |words red:0.0 |ids 20:0.0 617:6.0
-1 | tags:grey scores_2:4.5 scores_3:-3.75 size:47.25 |n big_0:41 big_1:79 big_2:57 big_3:62 big_4:58 big_5:40 big_6:17 big_7:79 big_8:79 big_9:38 big_10:75 |words x-y:0.0
1 | tags:green tags:grey size:47.5 |n big_0:40 big_1:9 big_2:13 big_3:3 big_4:55 big_5:96 |ids 545:0.0 433:0.0 638:0.0
1 | tags:blue scores_0:2.5 size:47.75 |kind red:b blue:b |ids 763:0.0 32:-5.5
-1 | tags:red tags:green size:48.0 |n big_0:7 big_1:40 big_2:3 big_3:27 |kind grey:a x-y:a
1 | tags:grey size:48.25 |n big_0:20 big_1:46 big_2:83 big_3:81 big_4:45 big_5:84 big_6:19 big_7:12 |ids 133:0.0
1 | tags:green tags:grey tags:grey tags:green scores_0:0.0 size:48.5 |n big_0:79 big_1:16 big_2:9 |kind blue:a |ids 547:-4.0 194:2.0 937:0.0
-1 | tags:blue size:48.75 |n big_0:73
1 | tags:grey scores_0:0.0 scores_2:0.0 size:49.0 |n big_0:32 big_1:1 big_2:37 big_3:76 big_4:21 big_5:92 big_6:5 big_7:50 big_8:45 big_9:12 big_10:40 |words x-y:0.0 |kind blue:a grey:a
1 | tags:grey tags:x-y tags:x-y size:49.25 |n big_0:84 big_1:59 big_2:22 big_3:98 big_4:75 big_5:8 |words grey:-7.5 |kind x-y:b green:b
-1 | tags:blue tags:blue size:49.5 |n big_0:31 big_1:52 big_2:93 big_3:33 big_4:89 big_5:98 big_6:44 big_7:24 big_8:73 big_9:73 big_10:59 |words blue:-3.25 red:3.25 |kind red:a green:a |ids 809:3.5 45:0.0 856:5.0
1 | tags:x-y tags:grey scores_0:0.0 scores_1:0.0 size:49.75 |n big_0:11 big_1:37 big_2:40 big_3:27 |words grey:-7.5
1 | tags:grey scores_0:-7.75 scores_1:0.0 scores_2:-9.25 size:50.0 |words x-y:0.0 green:0.0 blue:0.0 |kind red:b green:a
-1 | tags:green scores_2:-4.25 size:50.25 |words blue:8.75 |kind blue:a red:b |ids 32:4.0
1 | tags:grey tags:green tags:grey size:50.5 |n big_0:66 big_1:62 big_2:71 big_3:2 |ids 502:-4.0
1 | size:50.75 |n big_0:17 big_1:83 big_2:47 big_3:47 big_4:38 big_5:98 big_6:61 big_7:66 big_8:2 |words x-y:-9.5 red:0.0 |kind green:b |ids 957:0.5
-1 | scores_0:0.0 scores_2:-2.75 scores_3:1.0 size:51.0 |n big_0:86 |words x-y:0.0 |kind blue:b x-y:a |ids 401:0.25 471:0.0
1 | size:51.25 |n big_0:46 big_1:91 big_2:70 big_3:76 big_4:21 big_5:35 big_6:33 big_7:34 |words red:-1.5 blue:-8.75 x-y:0.0 |kind green:a |ids 720:0.0
1 | tags:grey size:51.5 |n big_0:85
-1 | tags:blue tags:green size:51.75 |n big_0:4 big_1:54 big_2:17 big_3:52 big_4:50 big_5:96 big_6:16 big_7:66 big_8:81 big_9:45 big_10:53 |words x-y:0.0 green:0.0
1 | size:52.0 |n big_0:33 big_1:41 big_2:64 big_3:5 |words green:0.0
1 | tags:x-y tags:blue scores_0:0.0 size:52.25 |n big_0:51 big_1:37 big_2:9 |words x-y:0.0 red:1.0 |kind red:b |ids 192:0.0
-1 | size:52.5 |words blue:-9.75 |kind grey:b blue:b |ids 395:0.0
1 | tags:grey scores_0:-7.75 size:52.75 |n big_0:84 big_1:94 big_2:62 big_3:18 big_4:24 big_5:85 big_6:16 big_7:53 big_8:72 big_9:34 big_10:67 |kind x-y:b |ids 45:0.0 181:-5.25
1 | tags:blue tags:green scores_2:3.5 scores_3:0.0 size:53.0 |n big_0:3 big_1:81 big_2:57 big_3:95 big_4:5 |ids 573:0.0 54:-1.5 571:5.5
-1 | tags:blue scores_1:0.75 scores_2:-5.25 size:53.25 |n big_0:26 |ids 793:4.25 975:0.0 468:4.5
1 | tags:green tags:green tags:red tags:blue size:53.5 |kind blue:a red:b green:b
1 | tags:green tags:grey scores_1:0.0 scores_2:0.0 size:53.75 |n big_0:58 |kind green:a blue:a x-y:b |ids 790:0.0 930:0.0
-1 | scores_0:0.0 scores_1:-8.0 scores_2:-5.25 size:54.0 |n big_0:63 big_1:3 big_2:32 big_3:93 big_4:71 big_5:94 big_6:94 big_7:93 big_8:98 big_9:83 |kind blue:a green:a red:b x-y:a |ids 589:0.0 311:1.5 946:0.0
1 | size:54.25 |n big_0:32 big_1:82 big_2:68 big_3:81 big_4:9 big_5:91 big_6:39 big_7:76 big_8:20 big_9:27 |kind blue:a x-y:b
1 | size:54.5 |n big_0:60 big_1:28 big_2:37 big_3:62 big_4:94 big_5:10 big_6:20 |ids 914:0.0 430:0.0
-1 | tags:blue tags:x-y scores_0:0.0 size:54.75 |n big_0:7 big_1:32 big_2:33 big_3:35 big_4:77 big_5:3 |kind green:b x-y:b red:b
1 | tags:grey tags:x-y tags:blue scores_2:8.25 size:55.0 |words red:9.25 |kind grey:a green:a |ids 136:0.0
1 | tags:grey tags:red scores_0:0.0 scores_3:3.0 size:55.25 |n big_0:44 big_1:67 big_2:34 big_3:49 big_4:57 big_5:65 big_6:98 big_7:92 |words x-y:0.75 |kind blue:b red:a grey:b |ids 872:0.0 685:-6.25 867:9.75
-1 | tags:red tags:blue scores_0:0.0 scores_1:0.0 scores_2:0.0 scores_3:-4.25 size:55.5 |n big_0:2 big_1:45 big_2:79 big_3:87 big_4:45 big_5:29 big_6:33 big_7:2 big_8:8 |words blue:0.0 |ids 184:-0.25 428:1.0
1 | size:55.75 |n big_0:52 big_1:3 big_2:78 big_3:66 |words x-y:0.0 |kind grey:b |ids 431:1.75 70:-0.75
1 | tags:x-y tags:red scores_2:3.25 scores_3:-3.0 size:56.0 |n big_0:58 big_1:16 |words grey:-4.25 |kind red:a |ids 266:6.5 346:0.0 466:0.0
-1 | tags:red tags:grey scores_0:9.5 size:56.25 |n big_0:83 big_1:59 big_2:3 big_3:89 big_4:72 big_5:58 big_6:43 big_7:21 big_8:57 big_9:41 big_10:79
1 | tags:x-y tags:x-y tags:x-y tags:grey scores_1:6.25 scores_3:-3.75 size:56.5 |n big_0:89 big_1:77 big_2:42 |words blue:-5.25 |kind red:a |ids 961:0.0
1 | scores_0:-7.75 size:56.75 |n big_0:20 big_1:92 big_2:70 |words red:0.0 |kind blue:a green:a |ids 871:0.0
-1 | size:57.0 |n big_0:52 big_1:40 big_2:7 big_3:35 big_4:83 big_5:41 big_6:65 |words grey:0.0 |kind green:a
1 | scores_0:4.5 scores_1:0.0 scores_2:0.0 size:57.25 |n big_0:72 big_1:54 big_2:71 big_3:37 big_4:85 big_5:22 big_6:11 big_7:88 big_8:18 big_9:39 |words red:0.0 blue:5.0 green:-2.5 |kind red:b green:b blue:a |ids 271:-4.25
1 | tags:green tags:green scores_0:0.0 size:57.5 |n big_0:52 big_1:47 big_2:72 big_3:64 big_4:9 big_5:97 big_6:79 big_7:34
-1 | tags:red tags:red size:57.75 |n big_0:60 big_1:37 big_2:16 big_3:87 big_4:69 big_5:75 big_6:90 big_7:35 big_8:39 |words x-y:0.0 red:0.0 green:0.0 |kind grey:b
1 | tags:green tags:red scores_0:-6.5 scores_1:0.0 size:58.0 |words grey:-4.0 green:-0.5 |kind blue:a |ids 593:0.0
1 | size:58.25 |n big_0:69 big_1:94 big_2:78 big_3:14 big_4:97 big_5:78 big_6:53 big_7:93 |words blue:0.0 x-y:0.0 |kind blue:a green:b |ids 443:-3.5 11:0.0 846:0.0
-1 | tags:x-y tags:green tags:blue size:58.5 |n big_0:81 big_1:6 big_2:97 big_3:4 big_4:76 big_5:54 big_6:81 big_7:27 big_8:42 |words grey:0.0 |kind green:b |ids 918:0.0 532:1.75
1 | tags:x-y size:58.75 |n big_0:59 big_1:72 |kind red:b
1 | tags:red tags:green tags:grey size:59.0 |n big_0:89 big_1:60 big_2:43 |ids 656:0.0 463:-1.75
-1 | tags:grey tags:blue size:59.25 |n big_0:52 big_1:43 big_2:2 big_3:72 |words grey:0.5
1 | tags:red tags:red tags:x-y scores_0:0.0 scores_2:0.0 size:59.5 |n big_0:81 big_1:85 big_2:61 big_3:31 big_4:62 big_5:95 big_6:26 |kind green:a red:b |ids 174:0.0 551:0.0
1 | tags:red size:59.75 |n big_0:72 big_1:58 big_2:88 big_3:79 big_4:78 big_5:93 big_6:80 big_7:27 big_8:15 |words x-y:2.75 |kind grey:b green:a |ids 203:0.0 190:0.0 435:0.25 954:0.75
