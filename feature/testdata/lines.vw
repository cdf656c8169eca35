1 | a b c
|a x
1 |a x |b y |a z
|a x |b y |a z |b w:2 |c |a :3 :4
|a x |a y |b z |a w |a v
|a :2 :3 :0 :4 |a :5
| a  b	c 	 d
1 2 0.5 'tag | x
1 2 0.5 tag| x
1 tag| x
1 'tag| x
'tag | x
tag| x
' | x
1 tag
1 
 1
  
1 2 3 4 | x
1 2 3 4 'tag | x
abc | x
1 abc | x
1abc 2x 3e| x
1abc 2x 3e | x
nan | x
1 nan | x
-1 -2 -3 | x
+1 +2 +.5 | x
0x10 1e1 1e-1 | x
inf -inf inf | x
3.4028235e38 | x
1 0 | x
junk	1 | x
1	| x
1	2	3 | x
a	b	1 2 'tag	x | x
1 | x	y
|
||
|||a x||b y
| 
|a
|a 
|a:2
|a:2 x
|a:2 x:3 y:
|a: 2 x
|a:  x
|a:abc x
|a:nan x:2
|a:-1 x:2 s:blue t:
|a:0 x
|a:inf x:0 y
|a:2:3 x
|a:2|b:3 x
|a:0x2 x
|a:+2 x
|a:1e1 x
|:3 x
|a x |: y |b z
|ab x |ac y
|12 3 |012 3 |1a 3
| 12 0012 5:2 12a 4294967295 4294967296 18446744073709551616 99999999999999999999999
| x:1:2 y
| x:1abc y |b z
| x:1.2.3 y
| x:1x:2 y
| x:abc y:1
| x:y:z w
| :abc :2 : :
| x::3 y
| x: y z
| x: 3 y
| x:  3 y
| x:	y z
| x:	 3 y
| x: |b y
| x:
| x: 
| x:	
| x:|b y
| x|b y
| x:1|b y:abc|c z
| x:nan y:NaN z:-nan w:nan(123) v:nan(_a) u:nan( t:nanx s
| x:inf y:-inf z:INF w:infinity v:Infinity u:infinite t:+inf
| x:0 y:-0 z:0.0 w:1e-50 v:.0 u:- t:. s:-. r:e q:-e5
| x:1e3 y:1e+3 z:1e-3 w:1E3 v:1e u:1e- t:1e+ s:1.e2 r:.5e1 q:1ee
| x:1e400 y:1e256 z:1e300 w:1e38 v:1e39 u:1e-37 t:1e-38 s:1e-45 r:1e4294967296 q:1e99999999999
| x:0x10 y:0x z:0x.8 w:0x1p4 v:0X1.8P-1 u:0x1p t:0xg s:-0x2 r:0x1.p1 q:0x.p1
| x:+1 y:+ z:+-1 w:-+1 v:--1 u:+.5 t:-.5 s:+0x1 r:+abc
| x:16777216 y:16777217 z:16777217123 w:123456789 v:123456789012345678901234567890 u:1234567890123456789012345678901234567890
| x:0.1 y:0.12 z:0.123 w:0.1234 v:0.12345 u:0.123456 t:0.1234567 s:0.12345678 r:0.123456789 q:0.1234567890123456
| x:12345.678 y:1234567.8 z:12345678.9 w:9999999 v:99999999 u:0.00000001 t:0000000001 s:00000000.00000001
| x:0.00000000000000000000000000000000000000001 y:0.000000000000000000000000000000000001234567890123 z:3.4028236e38
| x:1,5 y:1_000 z:1f w:1L v:0b1 u:1e5e5 t:1-2 s:1+2
| x:2x y
| x:2 y:3z w
| a^b:2 a,b a=b a*b:1 é:2 漢字 �
|é x |è y
| averyveryverylongname:2 sevench:1 eightchr:1 ninechars:1 sixchr:1 f:1 ab:1 abc:1 abcd:1
| x:2 |b y:0.5	z:.25 |c w:1 
1 | ab c
1 | a:1b c
1 | a:b c
1 |ab c
1 | a:  b
﻿1 | a
﻿
﻿﻿1 | a
1 | x:2  5 5 
1 | ab:3 c:4
1 |a x |a y
1 | x
1 | a
1 2 |::1a  b foo a:b:1: |é é:3. |:2.5  a:1 |~ longerthan8  12 word1234:.5 
1 2 | longerthan8 9x:1:2 9x:inf :1a a:b| é  foo:2.5  b:2.5 x:12345678 
1 
 |n 007 007:0 a:1a	a |b :abc |é é	b	foo: foo:+1|b 
 |n a 12:abc  a:b:-0 9x:. |12 9x word1234:abc  foo:0x1p3 
|	yy yy:. ||12 12 b:- 9x:1e-3 a word1234|size 0  x:3. 
tag|  longerthan8:12345678 yy:1a	longerthan8 |n	foo :1:2 b a	yy 
 
|:3. é:1: a|ns	12 word1234:-1|ns:+1 12 
|b	007:-0 0 0:-1 b:0 |: word1234:0x1p3 9x:+1 |12	a |ns |~ é  longerthan8:- 0 a:b:1 |a  b longerthan8:1 word1234	0 12
't|ns	b 12:0x1p3 007:-1 x |ns:-1  9x:2.5 0	a:b:1: 007:inf|size é:1a |b 007:2.5 007:12345678 longerthan8| x x:-0	12 x:1e3 9x 
junk	1 |b   yy:+1 0:0.125|12 longerthan8 a:b 9x|n  12 é yy yy |size foo:0 x:2.5 b:nan word1234:. a:inf |é  a:b |size 
1 |é:3. 007 é |b b é	b	word1234:nan  a:b:- |size b:1: word1234  longerthan8 12:0.125 b|: b:0x1p3 :-0	foo:3. |12	0 12 x:-1 
 |:1e3 é 9x 0:3. 9x:+1 |b:0.123456789 word1234  foo	é |n b 12:- yy:3. a b |size|n:1a	b:1 |12 b  0 
1 'tag |a a:b |12:0 :0.125 12:2.5	:- |b:0.123456789 12:0 word1234 007:0x1p3 a 0:0.123456789|a:1  longerthan8 |size:0.125 x:1 12:0 yy:0x1p3 |n b:1e3 
1 'tag |ns|n 0 12:+1 |12 b:12345678 9x |n 
junk	1 
tag
1 2 |: word1234 |:nan b :3. 007:. x |: 0:1e-3 | 007  a:b |n:1 0 word1234:- 9x 
tag| b:-1 9x:0.123456789 | x 9x yy:1e3  007|12 12:2.5   a yy |ns:0x1p3  b |é foo  12 b |b 
1 'tag |~ longerthan8 9x word1234 word1234:0.123456789 
0 .5 .25 |12:1e3   12	:1e3  longerthan8:12345678 9x 
|ns:.5	007:-0 yy 
tag|n a:b b:12345678 b:-0 longerthan8 x:0.123456789 |: :1 |12 0 x 
junk	1 
-1 
|~	a:1e-3 foo:inf 
 |ns é a:b:0 |é:.  yy |:	x:0.125 a:0 |~	longerthan8:- foo:.  0:0.123456789 
0 .5 .25 |b  word1234:0 |~  9x:inf  9x x: |ns 
|~ yy:abc é:0x1p3 a:0 word1234	foo:12345678 |é |a a:b é foo longerthan8:-0 foo:1: |size x 
tag|é a:- |b:.5 007|a |é:1 x:nan longerthan8:1a |a:abc yy:1: 
1 |12 007 9x:1:	foo:1: :1a a:b |b foo |n ||n:-1  é: b:1:2 word1234:1a 
1 'tag |: 9x:1a  foo foo:1a	yy | foo:-0 007 |  a:12345678	 a:0x1p3 
1 2 
1 'tag |a:-0 |	word1234:abc	word1234:abc 9x:inf a:1a x |12 a |: 12:1:2 007 
1 2 |size	yy:0.125  b:abc |n foo:1e3| longerthan8:- b:inf :-0 é é:1:2 
1 'tag | 
junk	1 
junk	1 |a |a foo:0.123456789	yy:nan 9x:1: 9x |	yy:12345678 é:1e3 :0.123456789 007:1e3 x |~ yy:0x1p3 x:abc a a:b:1e-3 12:0.125 
tag|a 9x:.	longerthan8 9x:nan word1234:1: 12:0.125 |: yy:3. word1234:1a 0: word1234 9x:abc|size	x word1234:1:2 |ns  foo 007:12345678 a:1: longerthan8:1:2 |a  :-1 
junk	1 |12 007:1e3 007 a:b:-0 
-1 |:-1	b	007:+1 12:inf foo:-1 |12 é:1:2	yy |b b: 0:0.123456789 b:.5 a 007:0.123456789 |: 0:nan	foo x:0.125 é:.5
1 2 | a  a:b |a:1e3 12:nan b  a:b:.5 9x:. b:2.5|é  12: b: x:inf	a:b:abc |n 0 é:0.123456789 0:1e3 |size |12
 |b:0x1p3
1 'tag |a é  longerthan8 007 0:0.123456789
junk	1 
0 .5 .25 |:3. 007:abc|b:-0 |a a:1a a a:. |b 0:.5 é é:. 
1 2 
-1 |é	x é:3. 12:. b: 007 |~ |b 0:+1 word1234:+1 longerthan8:1e3 9x:1e-3  a |é:-1 007:12345678 9x longerthan8 a:b word1234 |b yy 
't|ns 12:3.	longerthan8 longerthan8:1: |n:. :3. b:1e3 007 longerthan8 yy |~	a:1  word1234:0x1p3 b:2.5 |é yy |12	yy 
| 0:1:2 |b word1234 é |~|é	yy:1e3 word1234 
't|é  yy:-1  9x:0.125 word1234 word1234:inf  007:inf|b:0.123456789 0:1 0:-0 longerthan8 :-0 a:b:1|12	12:2.5 x:1: é | b:1 :1|n é |12 
't|: |:-1 é:1e3 a:b:-1| a:b 0:1 a:b yy x |~ x  yy|12 007	word1234:abc foo:0.125 
0 .5 .25 |~ :-1 a 12 007|b	007  b |~ yy 007 a |  b:.  a:nan 
 
1 'tag |b:0.123456789  12:3. word1234:1e3	a:1: word1234 |n x  :||a 9x:1e-3  | é 12 é|ns foo:1 0 
| :+1 |size longerthan8 a:b	yy word1234 9x:abc |a yy:-0	9x x 
0 .5 .25 | é:.|12 foo é |size foo 9x a:b: é 
junk	1 |12 yy a:b:1:2 
 |n	9x 9x:3. foo 0 |b  0 |ns:abc
tag|n 9x:12345678 word1234  longerthan8 |a:+1 foo 9x 0 | a  a:1a | x |size a yy:12345678 b: 007 |size 
1 |: yy |é | b é b b 007 
1 2 |é 12:0.123456789 b:1:2|size b:12345678 9x:1e-3	longerthan8 b:-0 |size 12 foo:-1 9x word1234:2.5 |b:nan  12 a:b foo:1: yy word1234 
junk	1 | b 12 longerthan8:2.5| yy:1:2 12 | a:b|n word1234 9x 007 007:nan | b:0x1p3  longerthan8:0.123456789 b 
tag|ns yy a  foo b:1e3 a:3. 
 |é x :-1 x |  word1234 é:abc é 12:1 longerthan8 |b |a b:0x1p3 longerthan8 12	x |size b:-1 : word1234:1: longerthan8:2.5 |ns longerthan8:inf :1: b 12:0.125 yy:.5 
junk	1 |	b:1e3 :1:2 |b x:-  007:.5 word1234 0 b 
't|n a:abc 007:1:2 | | 9x 9x: a:b 0:-1	12 |:inf|b:1e-3 foo:0.123456789 x:abc
junk	1 |a a:b:12345678  |b |::0.123456789 foo:0x1p3 a:12345678 |:  x yy:1a a:b yy:3.	foo:+1 
1 'tag 
1 2 |ns:1e3 longerthan8:12345678	0:2.5 0 007:1e3|a  12  é a:b é:inf |12 007:abc  b:1: |size foo:nan 12:+1 a:+1 é:1e-3 |a 
|~    longerthan8:0.123456789|n	b:1e-3 :2.5 foo |b a  12:1:2 |é  a:b:-1 
-1 |	yy |b	word1234 é é word1234 foo |:1a a:b:2.5 longerthan8 | word1234:0.123456789 a  b:nan 
tag|~ a  9x a:b 9x |12 é:1e3|a:2.5 a:b é	:-1 é:0.123456789 yy:2.5 |ns a :. :-0 é:0  foo:1a 
 |b 007:3.   12:2.5 007  |12 longerthan8 foo:1a  b:abc  yy:1:2 
 |12 007:2.5	|: 9x: 007 é yy|é:12345678 0:-0 0:abc 0:inf |a foo	word1234:12345678	é |é	longerthan8:1a a:1:	b:abc foo 0:-1 
 |:  foo  yy:12345678 é|size yy a |ns yy 0:+1 a:b
|12 b:inf 12 0 007 |n:1:	longerthan8:- a:1 12:- é | 0 longerthan8 longerthan8:-1	word1234 foo |size:+1 a:b:3.  é 007 :0.125	a 
junk	1 |é foo:0.123456789 foo 007:abc 
1 2 
1 |ns  longerthan8 yy  b:nan |~ |a 9x:1:  foo:0	é é:0x1p3 |size:.5 foo:-1 
tag| 
0 .5 .25 |~ 9x a:b:. 12 word1234 
 | 007 foo yy 
junk	1 |n longerthan8:nan 
1 2 
0 .5 .25 |b	0 longerthan8 
1 2 |~ 0 |12:nan |~ | é |a foo  yy x:- word1234:0.123456789 007:. 
-1 |ns:-0  é é | word1234 longerthan8:nan 007 9x	a 
-1 |b foo  foo |12:0.125 a:b  foo longerthan8|~ |n  12 |b:-1 9x:- longerthan8 x	yy:1a|b 12  x:12345678	a 
0 .5 .25 |b:inf yy:-0	longerthan8:. word1234  12:12345678 12 |a 007:0.125 b:0.123456789 x:nan longerthan8:3. x | | 12:1e-3 x	0 longerthan8:1:2 |n word1234:+1 9x 0:1a  b é 
-1 |é |: foo:nan |12 9x	:-0 9x:1a  :2.5 9x:1e3 |~  foo:abc longerthan8:2.5 |12 x:1e-3 yy yy 9x:1 
junk	1 |a 007:1e-3 x 007:1  a:b |b x:3. a:b é:- longerthan8 |ns:1e3 007	12:abc a:0.125 a : |ns |	:-0 |é 
-1 |size |size 12:0.123456789 a:1: 0 foo:2.5 |a 
1 'tag |: longerthan8 0:-1
1 2 |:|ns a:. 
-1 |a:1:2 007 9x a |b 12:1e3 12:nan é x:-	b |~ x	007:abc 9x:+1|a é: |: a:0 
1 |12 9x:nan longerthan8 007  foo é:1a |n foo 9x:  x:.5 |: yy b 0:12345678 a yy 
't|ns:1 0 9x	:0.125 yy:1: b:1e-3 |a:1:2 a:1e3 word1234:1 :2.5 007 
1 |~:2.5 b  0 word1234  | foo:12345678 |12  a:b:-1 longerthan8 é 
|size a:b|size é:0.123456789 word1234 |ns :.5 0:1a	b foo:-0  |n 9x |size  b 007 9x:1: 
junk	1 
tag|b:1: |b word1234 |b 007:-1|~  9x word1234:1e3 
't|~ 
junk	1 |size 0:0 longerthan8:2.5 :1e3 :0x1p3 longerthan8 |n x 9x:1e-3 x:1e3 |size word1234   b:0.125 
tag|	b word1234 12 |b:nan	word1234:12345678 12:+1 |n  word1234	x:.5 0  a: 
1 'tag |b 9x 12:1e-3 é |size	yy	:-0 :0x1p3|n	yy:.5 foo foo:1a foo word1234 
tag|n:+1 x 12 
't| 9x |12 foo |size:0 
1 'tag |a  word1234:nan b:1: foo |n 9x é 
1 2 |é 9x:3.  12:2.5 9x:-0 9x yy |12:inf x:1:2 |a 12 007:nan  x |a	a:3. 
|: a:b:0 |size 0:0x1p3 b:1: |a	longerthan8 yy x |n x:1a b:0  é:. 
1 2 
1 | 9x	longerthan8 |12 longerthan8 
tag| foo yy 12:1	yy b:.5 |12:3. 9x	a foo yy 12
1 'tag ||é:+1 9x |n:-1 12: :-0 |::0.125 |12 0:12345678 
|~  x  12:3.   é:0.123456789 |a:2.5 
-1 |b  word1234  word1234 :+1 a:b:1 a |a b:0 
1 'tag | 007 
-1 | é yy:inf 
| |é 007 word1234:.5 longerthan8 |: 007  12 b:1:2 0 |12 longerthan8:.5 foo:inf word1234:1e3  a:b |  0	é 0:1e3 007:+1
-1 |n 0  007:1 0 longerthan8:-0 12 |~ |size longerthan8:+1 yy:inf a:b:0.123456789 
't|b b 12 0	word1234:.5 longerthan8:1 |ns 
1 'tag |a 9x:0x1p3 foo 12	12:1e-3 |	9x  yy:- 
't|:1:2 x:0.123456789 |n	longerthan8|ns foo 0 x:1:2 word1234:- |12 | 9x: 
|size a:b |b	x a |: x:.5 12:+1|ns |: longerthan8:1e-3 007	a:b:.5 x |	0:1e3 
-1 |: é:-0 é word1234:abc foo:3. 12:-0 |a 0 word1234 |é 007:-0 |12  0 b:1a  007 12 |size	yy:1e3 007 |12 b yy 
 | b:0x1p3|~ 
1 | foo:abc b| 007:+1	word1234 9x |:1:  |é:12345678 é 007:inf x| foo
1 2 |a:1
1 2 |  word1234  :1e-3 a:b 9x word1234:abc |a b:2.5 |12:0  x:1:	word1234:inf| word1234:12345678 a|é|: x foo:3. x	a:b:1: 
tag|12 foo:12345678 ||:0 007:-0 a:b:2.5 |ns |:0 é |n a:b:1e3 007:-0 word1234 
-1 |size:12345678  yy |a 0 007 12 x | |: word1234
't|:  a 12 12:1:
-1 |é	x:1:2 word1234 x longerthan8 x
|b word1234 yy:0x1p3| a:b:0.123456789	a: é:-1  12:
1 2 |~ 12:inf b 
|12 007:.5 0:0 12:nan 0:-1 9x:abc |  foo:nan |ns |: 12:abc :. 12:nan |:0x1p3 é longerthan8:1e-3 12:-1	longerthan8:1e-3	foo:1e3 |b 9x:0 
1 2 |é longerthan8:1: a:b
tag|a :0.125	9x yy word1234:0.125 0:inf |size a longerthan8:inf a 12:+1 | yy 007:0 longerthan8 |:1 b	x:-0 foo foo:2.5 |b b   foo:0x1p3 
|size é:.5 a:1:2 foo:0 |a 0 12 |:0x1p3 12 word1234:- |12:.5 longerthan8: 9x:-0|é:1:2 é:-1	007 a:1: 0 a:inf 
-1 |b 9x b:nan | 9x:1e3 a:b:0.125 a:b:12345678 yy:1e3 yy:abc |::12345678 x 
junk	1 |12:+1 foo b	0:0.123456789|b	x:1:2	a:1a foo:1e-3|é é yy |~:-1 longerthan8:1: 12:0.125 a:b	x:.5 :1 
junk	1 |:-1 |12 word1234:1e3 yy é:1:2 |n 007  x:1:2 12 12 
't| 007:.5 a:1:
 | 0:0.125  a:1e-3 |~:+1 
-1 |	foo a:b 9x:-1 a | :3.	a:b foo foo	 |é 12	x
-1 |: foo:3. a:b:+1 a:b:1: longerthan8:0.125  yy:1e3 | longerthan8:.5 é longerthan8 12:1	:| é:1: a |ns| 007:abc x |b :1 
|a é:0 0:.5 |12 0:-1 a a | 12 x:-1 12:12345678	0:1 12:.5 | a:b:1:2 |b 007:abc é:3.	b x 12:1: 
1 |size:-0 9x:-0 |ns longerthan8 :0x1p3 word1234 a |a é:1e-3 12:inf x:abc word1234:+1 |~ 007:0.123456789 007:1a 
junk	1 |::. x longerthan8:inf 007 |b:0.125 foo longerthan8 a:b 12:1:2 a|b 9x 12:0 b:1e3 |~ word1234 007 0 |n foo:0.123456789 x:0.125 word1234:-1
tag|b 007	9x longerthan8 |a:.5 word1234:.5 x b:nan 
junk	1 |a:3. b:+1 é a:b  |a é|size é:.	:12345678 é:nan b:0.125 |: |size 
 | word1234 :-1	longerthan8:1:|size:nan a:b yy	é:0.123456789 12:+1  yy| word1234:- :1a |b |~ word1234 
tag|~	word1234 007:.5 |size	é:0.123456789 a: longerthan8 yy:12345678 |a:0 word1234:0 a:b:0
1 'tag |ns	a 
-1 |size:+1 
1 |:1a 
0 .5 .25 
't|size:3. | longerthan8  foo foo |n longerthan8:2.5 9x
0 .5 .25 |:+1  yy |size |a:12345678 |~:0	x:2.5 longerthan8:abc x |: yy:0x1p3 x a:b |: b:2.5 x: 0  a  007:1e-3 
 
1 2 |::1e-3 0:12345678 é a :2.5 9x |b  |é:0x1p3 ||size é:-	007 
0 .5 .25 |a 12 9x: foo:0.123456789|::12345678 007 foo:1|a b x:2.5  word1234:0.123456789 |size a:3. :12345678 9x:1e3 12:+1 
't|:1 0 0:1a é 0:.5 |: é x:-0 a longerthan8:-0 007 |é yy foo foo 0:1a 007:.5
1 |: 0 longerthan8 | é:2.5 |: longerthan8:-1 a:b:- word1234:1:2  word1234 
1 |a longerthan8:. longerthan8:0x1p3 0 |12 word1234 0 a:b b:3. |: foo  word1234:12345678 foo yy 007 
tag|n |~ |size |~ yy 007:12345678 |: 007:3. a:1	12 
0 .5 .25 | word1234:2.5|~ 007:1e3 word1234 9x:2.5 
0 .5 .25 |: word1234 b:1e3 |é:-1 foo  12 007 |: longerthan8:-1 9x:1: foo:1: |é	a:b 9x é	word1234:12345678 foo 
junk	1 |b:abc a:b:12345678 12:12345678 |n é 0:nan 007:1a longerthan8 a:b | 12 12:.5 |a:0.125 a:0 007 9x:1  é:0.123456789 |ns word1234:1e3 
junk	1 |::2.5 x word1234 :1 a 9x:.5 |b longerthan8 longerthan8  x:- 12:abc 
-1 |ns a:b:inf	word1234|:1: foo:inf 0 yy:abc 
tag|  x:1e3  a:b 0 | :1 0:- 0 |~ b yy |12 |a |n a 
1 |: b: 9x	yy:+1 |b a:b:12345678 a:b	yy:2.5 word1234:0 
 |: word1234:-0 |: foo:+1 x	yy:0.123456789
1 |~:inf 9x longerthan8:0.123456789 a:1|12 foo	yy  word1234:0.123456789 | a:b yy a:b:0x1p3 a:-1 longerthan8:1e-3
junk	1 |n:12345678 | |12:12345678 9x word1234 x yy:1e-3 0:1a |::1a 12 |b 
 |size:3. a yy:1e3 |~:nan 007:12345678 yy  x:1e-3 |12 007	é:1e3 a:-1 0 é:12345678 |12 a |n 12:3. word1234:0x1p3 a:b word1234:3.|a	foo  a:b a 0  a:b 
1 'tag |é yy	b é:- b yy 
1 |b 12 007:abc 0 
1 'tag |é|é 0  12:1e3 é:1: 
1 |a foo:1:2 a:b: 9x:12345678 |:nan|é : 
-1 
junk	1 |b:0 x:.5 | 007 longerthan8| 0:1e3 b	9x |:0.125 9x foo|~ word1234 |é
|ns 9x	b:1 |n:+1 9x |~ é:1: longerthan8:+1  9x:+1 
tag|é 0:1: 9x a:0.125 word1234:1|ns 9x a:b b:. :1e-3 |size:1:2 longerthan8 é b 
1 |: 0 foo |: longerthan8: :nan a:1e-3 foo |n b:0 9x 12:. 0 :nan |: yy a:b:inf|ns:12345678  longerthan8:nan 12 a:b yy	b:0.125 |a 
junk	1 | é:- é:- |ns 007:1: |ns 007 yy word1234:0.125 9x:. 
1 2 |12 |b:2.5  b	x:-1 0 :1 |a 12:1a b:-0 longerthan8:0.125 b 
1 2 |~ |~:nan x é x:abc 
1 2 | a:12345678	007:inf|~ b:3. yy:1e3 |~ é 
1 2 | yy:1 yy é longerthan8:2.5 |b |~ 9x	word1234:2.5 9x:3. |	word1234:1:2  longerthan8 
|:3.  longerthan8:0 foo:1a x longerthan8 |a |:+1 x:2.5	0:- é:0 longerthan8:1:2 longerthan8:abc|n|n 0 
 |size word1234 longerthan8 |a	 a:b:abc a:b	é:inf foo:+1 |size a 9x:abc 
't|~ 0:1e3 |12	longerthan8 0 word1234 word1234:.5	longerthan8| foo 0  b:. |ns 12 9x  a: 007 |:inf 12:-1 word1234 x 
1 |é 007:- yy:0 a:b |size|é |  yy 007 x longerthan8 word1234
1 | yy	a:b b:1:2 :1a 12 |a |12 b: a foo:inf 
|a 12 foo:-1 yy:12345678  007 | longerthan8 a:. | a:b a:b	007:-0 9x a |: x:12345678 007:-1 |12 a:b é	word1234 yy |a x:3. x longerthan8:nan yy 
0 .5 .25 |12 0:- 	foo:2.5 007 b|ns:3.  foo:3. é:1:2 foo:abc b |é  :3. x  12:abc 9x:-0 |size 0:1 
1 |b yy:0x1p3 x 0  a:nan |é:1a 12:12345678 |12 yy 9x 0 007 
-1 | longerthan8 x:12345678 x:abc x yy |: |:1e3 yy:1: yy a:b a:b:abc |é é a:b:0.125 |n 9x:2.5 yy:0 
't|: |n word1234:0.125 |n é:inf  yy a:b:nan  word1234|~:1e-3 |b 12 9x b	0:-1 foo:-1 
junk	1 |a yy:0 word1234:abc é yy:nan |é  a:b:2.5 0:1a 9x|:2.5	12 x:1e3	word1234:1:  12:2.5 a:12345678 
|ns	x 9x yy:1:2  a:b:nan |size 
junk	1 |  x:nan 
1 2 |é  12 word1234:2.5	é 007 |a x:inf  a:1a  foo:0x1p3 word1234 é:abc |size 0:0.123456789 9x |:1:2 longerthan8:- | 0  b  a |n word1234:.5 foo:0x1p3  0:- foo a:1a 
't|ns:1e3 :nan 0 0 007:-1 :0x1p3|12:nan yy	9x |12 x:inf |~ b  0 | longerthan8:- | 
 | b:0x1p3 word1234:1e-3 9x a|~ 007:. a:inf foo word1234 foo:0x1p3 |:0 |ns:0.123456789 :0.125 é word1234:12345678|: a word1234:0.123456789 word1234 word1234:0x1p3 |12  a:0x1p3 word1234:1e-3	a:b 
|ns:1:  0 longerthan8  word1234 |a 0 longerthan8 longerthan8:inf é:0x1p3 12:0.123456789|b  foo:0	a:b:-1 |é foo 007  x longerthan8 :12345678 | a:2.5	word1234:nan 
1 2 |12  a yy  b:. | é	x  yy:- é:nan  x |:2.5	a:abc 0 |é:0.125  0 :12345678 007 |é x|n:+1
tag|~:1a b 12 0 |size longerthan8 longerthan8 yy|b 12:1e3| |~  b |b yy:- longerthan8:3. yy:3. yy	007:0.125
junk	1 
1 2 |a :3. |size 0 9x | word1234 |n b:nan  x a:b:abc a |n 9x |n a:b:inf é:1a a  007	yy:3. 
tag|~  0 007  0:. a |size:1: yy:- a:0x1p3  007:1 |a longerthan8   
't|a:1:2 12 x:1: 9x:1e3  0:1|n é a:b:.5  0:- |: a x 
-1 | longerthan8 b:.5 a |~ longerthan8 12 0:-1 0 x:1e-3 |: foo:nan x  x |: a:b x:1a | b x:0 x:-1 9x:.5 9x |ns a:3. é x a 
 | b :. |n 007:-1 0 a |a foo:1:2 word1234:0.123456789 :- word1234 0:3. |b word1234:nan word1234:1 12:nan |é:2.5 
|ns a:0x1p3 yy longerthan8 b |  
|size é a:b:0x1p3 9x:1a 9x:0.123456789 b |n longerthan8:1e-3 word1234:12345678  b:0|ns:-0 yy x:.5 longerthan8:inf a:b 
|é longerthan8:1: 0:abc| x 0:nan	0:1:
1 |b|n a:b é:3.
1 'tag |:inf 0:1e-3 x 12 word1234:inf longerthan8| |: 0  007 |é |ns word1234:1:2 word1234:.5
tag|~  b:3. a:b:-0 |ns:1a x:2.5 0:inf 12:-0 |ns longerthan8:.5 0:1e3 0 foo : |:   a a:b 007 |12 x yy:nan |::1 007:.5 :0.123456789 12 007 0
1 2 
1 2 |12 a  a 007:.5 word1234  é |b 12 a:b word1234 a:nan|~ longerthan8:-1 9x 007:+1  0:1e3 |ns word1234:abc  x:0x1p3	9x:1: foo:1: | a a	12 
1 
't| |  foo:1e3 0 9x:+1 |b  word1234 0:3. word1234 007:0 007 | a:0 yy:inf a:b: |size longerthan8 foo 
tag|12|a
1 'tag |12	:1:  é | 007 |size a:b:0 a:+1 yy 
tag|b:1a  0 longerthan8:1 |12:.5 x 9x | b 007:- yy:.5 | foo é:inf |n é :1:2 é b |:-0  b x
0 .5 .25 |é x word1234:0.123456789 007 yy |: b:nan	longerthan8 b:1	longerthan8:1: yy | |~ 0:
1 |n foo:1e3 word1234:1a |é  007 9x longerthan8  |~ 12 |n x:+1 007:12345678 |~	x:nan 
1 2 

't|:1:2 yy|n 
|~  a:b:3. a:b word1234:-1 |size 
 
|n:1e-3 0:12345678|12 é a:b:-1  |é 0 |b b é:3. a é |a 007:-  word1234:inf 
't|~	word1234 9x: 12
0 .5 .25 |b	x x 
1 |n:1e-3 word1234:-0 x:12345678 007:inf word1234:1:2|ns b:1:2 12 b longerthan8:abc x:. |b x b x:1a  a:b |ns 0 
1 'tag |a:0.125 x:1e3	x:-1 a:1a longerthan8 12 |size	12 yy|size word1234	0:-1 word1234 x: 007|a 12:0x1p3 0:2.5 0:1e-3 longerthan8:1a  yy |size:-1  007:1 é:-1  word1234:0.125 :0.123456789 |~:inf 007	:abc 
1 2 |: yy:12345678 :1e3 é  a:b longerthan8 | a	x	9x :3. |b	 foo foo|é word1234:2.5 word1234	007 
0 .5 .25 |:0.123456789 yy foo	007:12345678 é:2.5 | yy yy:nan	b |a 0 |::0 | 12 :0.125 a:- 
-1 |: |:0.123456789	9x|::- 9x 12 9x a:b |size | word1234:1:2 
't|12 x:.	b 
1 |  12:12345678	0:nan|a a:b longerthan8:0x1p3 longerthan8:3. é |n  007 longerthan8:2.5 007 
-1 |12 word1234 a:b:1: 12:12345678 | 12 longerthan8:abc |é |12	x 007:inf 
|:-1	x	foo é word1234:-0 é:0 |a yy 007:2.5 a:b |é	word1234:12345678 |a |a b b |a  0:-
't|n |b	a:b:0.125 9x:0.123456789 0	yy:0x1p3 é:2.5 |é longerthan8:1:2 yy| a:b é foo:1 a | 9x:0.123456789 |~ 0 é:. longerthan8 
 |: 
0 .5 .25 
't
1 'tag |12:1a 9x 0 |ns	yy 0:abc  é 0:1e-3 | 0 a:0.123456789  longerthan8 foo:.5  007:-0 |  foo:1e-3 |12 a:b:1a 9x 12 é:1  9x:-0 
 
junk	1 |
1 'tag |a word1234:0x1p3 9x:12345678 
 |12 é:1e-3 longerthan8 9x:  |:0.125 |é:12345678 b:.5 0: 
1 2 | | yy |	foo b:abc a:b: longerthan8:+1 |: b:0.125	yy:1:2|size	9x foo 
tag|~	longerthan8:1: a:b:1e-3	word1234 é:2.5 |: |é:12345678 x word1234:abc longerthan8 x word1234 |b:.5 yy 9x foo
tag|size 0  
-1 |: 9x:1: | 007 foo:. é:abc x x:1: 
junk	1 |a é:  foo 
|ns:1e-3 0  a:2.5 12:1e3 
0 .5 .25 |size foo:0 word1234 007 0:abc|a yy:0x1p3 word1234:0x1p3 b  b | a:b:0x1p3 b a |ns 
|size :0.125	x:1e-3 007	foo a:b:0x1p3
|n b | b b:-1 :2.5 |~ 9x x 
|~ 12 b  a:b 007|:  12:1 |size:1e3	yy 9x word1234:1  foo:0 
 
1 'tag |n x 12  007 foo 
1 'tag 
1 |~ 007 |é:. |b é:1: |n longerthan8:. x:nan	a:b:+1 x yy: |size:1:2 
|é  007 |n  a 007	a:b:-1 x:0.123456789  foo|ns	é a:b é
 |a |size 12 longerthan8 |size:1e3 |: a:b:3. é:1:2 
tag|a word1234:. yy	9x:-1 | a:b:abc yy:3.  b:1 a:b 12 |a word1234 12 a |é longerthan8:. a:0x1p3  longerthan8:12345678 
1 |~:1e3 9x: 007:1e-3 foo:1:  9x |~ a:3. b é:-1 x:- |é:-1  a: word1234:1a	foo:inf a 
-1 |12 x:inf 9x  b 007:-1 a |: 9x a:1e-3 007:0.125 x x |b 12:0 9x 12 |size 12:1e-3 |ns:1 9x a 
't|::1a 007:- b:12345678 word1234:3. a:b:+1 9x|é:1e-3 longerthan8:3. foo |::1a	 word1234 12:1e-3 b  12 
junk	1 |12 a:nan |n x:2.5 longerthan8:	longerthan8:-0 9x:0.125 x:-1 
0 .5 .25 |ns |size	longerthan8 word1234:1e-3 007|ns:1e-3 
't
tag|b word1234:2.5 12 |ns:.5 a:.5 9x:+1	0  |size:0|b 
 
-1 | a  :1a 9x:3. 0	longerthan8 |12 yy:.5 b:0x1p3 |n a word1234:+1 é| yy é:-1 |é é |~ 0 longerthan8:nan	a:+1 
1 2 |n 12|:  é:- x |b foo:	12:0  b:0.125 
|n |ns yy foo:1 :2.5 word1234:abc 
-1 |é  :+1 a 9x:1: |size:0x1p3  0:0.125 x a foo x:1: |n  é:1a |é:1:2 12:1e-3 b |a
1 'tag |	9x:inf 12:-0	yy | 0 
1 |: 007 |12 |	0 007:abc longerthan8:.5 007:+1 é:1e3 |ns |12 :-0 a:b 
junk	1 |b 12 a:b x:nan	word1234 0 | |b 007 x  a:1e3 b |: a foo:1: longerthan8	b:.|12 a  word1234 longerthan8: longerthan8:1e3 x 
't|b x:+1 007 0:+1  b | b 9x:. a  a:b:1e3 12:1e3|  foo foo a:b 9x a:b |12 12:+1 :-1 12:1e-3 | b	word1234:0.123456789
junk	1 |12  12 |b |	yy:.5  x longerthan8|~:1 word1234:0 0:inf foo 007 |é a:0 foo:1 :3. :0 9x:1:2 | 0 
1 |ns 007:1 a |a:nan     |n 007:1:2 12:. :+1 b foo|:-0  x:+1 word1234 a:inf 0 |n:abc 
junk	1 
1 2 |size x foo longerthan8 yy:.|n	b:0	
tag|b b:1:2	longerthan8:1a |~	9x |é  a x:0.125 |ns é yy:1e3 é:0x1p3 a:b:1a | a:-0 12 0 é:1|12  a: 12 x:1:2 
 |12 007 x |a longerthan8:	x:nan 9x longerthan8:1e3 9x:0x1p3 |a:nan foo x x é:0.123456789 |n é:2.5 b |n x b:0.125 
1 'tag | |~  12 0 9x:3. x:1 foo:0x1p3 |é:.5 12 a:b 
tag
-1 |b:1e-3  007 007:nan word1234:0x1p3
1 'tag |n yy:.5	12:12345678 a word1234 |n:1  a:abc a a:b:3. 12 
tag| é:inf 
 |:1e-3 yy b |a 007:1 |é:1e-3 longerthan8 |ns é:0.125|a a:b a:1a foo 
0 .5 .25 |a:.5 word1234:1: a:3.  b:2.5 |n foo:.5 9x:0.125 longerthan8:0.123456789 
-1 |12	word1234:-1 :0.123456789 007:1:2 yy:2.5
tag|:. a:b|~:1e3  yy:+1	foo:3.	longerthan8 yy  a:-0 |:12345678  a:-|b a:nan  a:b:- longerthan8 |~ 0:1: 12:12345678  9x x: |size 007:0.125 12:0x1p3  foo longerthan8:-1 
1 |ns 	é:+1 word1234  foo:1:| 0 9x:3. | 12 yy word1234:0 
1 'tag |b	a:+1	x x |: word1234:3. 
 |a x:0 é  foo:0x1p3	a:b:. a 
junk	1 |: 0 0:1e3 0:- 
0 .5 .25 |12 foo:1|ns 007:0.123456789 9x |12 
junk	1 | a:b 007:0.125 007:0x1p3 9x:0x1p3  |size b 0:1e3 
tag| yy:1: b:0.125 yy	x:1a	word1234 |:inf foo yy:1a :.5  word1234 007 |é	a 007 | 
-1 |a word1234 x |a word1234 a:b 
1 2 |n 9x a :1e3 |a:1 
|:1:2 word1234:nan	9x:3. 12 |	0:1: x | 0	foo a:+1 longerthan8  
tag
|: word1234:1e3 
1 |ns a:. foo a:0.123456789 x 12| a:b a:b:3. 007	007 foo |size a:3. |ns a:-1 yy b 9x:.  |n:1:|~ 
-1 |size word1234 0 é:1e-3	x:-0 yy:12345678 |:12345678 9x yy|:1a  007:  9x: longerthan8:-1 :1e3 | a:b  foo:1a b 
 |ns	a:b é 007:1: 
1 'tag 
1 |~ 9x	x  :1: 007 word1234 |  x b:2.5 12:3. |:	b yy:1: | word1234:0x1p3  :- 007 |ns 9x: 0 12 
junk	1 |~ longerthan8:-	9x x é x 
 |:  word1234:2.5	é 12 a:b |~  9x a:0.125 |  9x: x  é:-1 |b
1 'tag |	b a: é:-0 a:b yy |b é a:0.123456789 b | b:0 0:0.125 |	:12345678  |n 007 |n foo 
-1 |a:1e-3	x:nan  007:inf |b  foo 007 |n:2.5 12:. x a é:-0 longerthan8:0 |a longerthan8:inf x:1:2 |12 yy 
junk	1 |12:inf foo |é x: a:b 0:12345678 ||~ foo 9x 0 é	x:1:2 |a a:b a |12 
tag|size:inf foo |12:0x1p3	longerthan8:+1 :-0 x:.5 |12 |:1  |a:inf é x:.5 007:0.125  é	b:0.125 
1 'tag |n yy:1:  12:abc a word1234:2.5 
junk	1 | word1234	b | foo:2.5 longerthan8:1:	a:b:+1 |ns:0.123456789 |:1e3 12:0.125 é:-0 |: 0: b:0.123456789  0 | 0 a  007 
't|: |n:3.  x 007:- 9x:.	é  007:0 
-1 ||~ longerthan8:abc|b word1234:abc é:1 foo 12 

tag|12|b	007:0.123456789 é:12345678 foo:1:  é
junk	1 |n |	0:0.125 longerthan8 word1234 |a :1a word1234:. 9x:-0 yy:0x1p3 007 |é	007:12345678  a:b word1234:abc  foo |b	b a:b longerthan8 |é:inf é 
1 'tag 
 
1 2 
|é |: a x:12345678 word1234 007 |: longerthan8 x:0x1p3 |n 
1 |ns é b é:abc | 007:.  é:1: x yy 
-1 
1 2 |~ é:abc b	a 9x |: foo:nan 0	 007 word1234:- 
0 .5 .25 
tag
1 |size 007 9x:0 x:0 é foo |é	a:1e3 007:3.|a x:0x1p3 x:+1 foo:0	 007:3. 
tag|é  12 é:1e3 foo:.5 yy:12345678 yy:1e-3 
junk	1 |a|::3.	12 x:0.123456789	word1234 |size:0.125 word1234 b: 
tag|size:3. 007: |size:1: a:0.123456789 b 9x 
-1 | |  a|b:1e3 longerthan8
't| a:b:0.123456789	longerthan8 :0.125 yy:0.123456789  word1234:3. |:  a:b:1:2 |	0:0 007:1:2 x x |: yy:-0 |b 9x | :3. x:1: 9x  b:-0 
tag|ns 12  	word1234 foo:1:2 |b 
 |~  yy:3. b:0.123456789 9x yy x:1e3 |: |n |ns word1234 a:b: |ns 0 é:inf 
-1 |a  b:.5 longerthan8:0.123456789 longerthan8:1: a
't
-1 |~  12:1a foo |  9x a:12345678 x :1:2 9x |ns |~ |é
1 2 |ns é:1e3 b:nan 007 a:b |b:0.125 yy |: é:0.123456789 a:-1 |b	b:1e3 |n:3. 
|size |  b:1e3 b:.5 |ns	007:2.5   a:b:-0 a:b  007 | 007:+1	foo  a:b word1234 yy:2.5 
tag
1 |b	a:b:0x1p3 a:b é:1a|:. 9x yy word1234 é:3. 007 | longerthan8 |::12345678 a:b 007:0.123456789 |~ |: foo word1234 word1234:abc 9x:- 007 
tag|b	9x:-0 foo:nan longerthan8 x:1:2 é:1e3 |b	9x:inf 007 longerthan8 12:1e-3|::. 0 9x:. |n a:b a:b longerthan8:. 0:0 12:1: |~:1e-3	007	12:2.5 12:-1 007:0.125| 
1 |ns é a:b:. é a:3. 
0 .5 .25 |~:. 12:-1 a:b	yy  0:0.125  é |~:- || yy|b 
0 .5 .25 |é 12:-1	007 007:abc yy | |b	12:. foo a:0 é:.5 
't|a x:0.123456789  :2.5 a:b foo
0 .5 .25 |size	é b:0 | a |é	12:1 007:2.5 12:-0
 |: longerthan8  12  foo:2.5 é:+1 é:.5| 007	word1234:abc b:0 9x:inf	a:b |size:inf 007:3.	b:. |n 007:1a 9x:+1  foo:  word1234 9x 
1 2 |b	0:-0	a:b:nan  é:inf 9x:1:2|size:3.  a longerthan8:-0 foo b:3. |size 12:-0  :2.5 12 |size |12 longerthan8:3. b yy:1e-3 :1: |::1: 007:1: a:b longerthan8:0.123456789
1 'tag | word1234|:nan 9x:0x1p3  007	a 9x |ns	foo yy:1e-3  foo	longerthan8:0.123456789 b:2.5| a:b 9x:2.5  9x:12345678 12 |size :1a longerthan8	a| x:nan 
1 2 |a a:b:0 é:3.	a:b:1e3	a:b |12 
tag|size x:nan	007 é:1: | longerthan8:2.5 foo 
|é  yy é 007 9x:0.123456789|é:abc 0 |b a é:nan 9x:1:|: 
tag|ns :2.5 é:1e3 a	a:b:nan b | word1234:+1 longerthan8 
1 'tag 
|:12345678 x:inf a:b  007 : 9x |12 longerthan8:-1  |b a:b:1|b |12:3.	yy|~ 12 yy:3.	x 
junk	1 |~:0.123456789 word1234 9x 
junk	1 |ns a
-1 
1 'tag |b foo x | :1 yy é:1:2 |~ 007:. longerthan8:0x1p3  word1234 word1234:0.123456789  |b  yy foo:1:2 
|a	9x:1e3 007	longerthan8 
1 2 |12 x:1: |: yy: b :nan |b |ns 9x:inf|:0 |
 | 007 9x:-1 yy | 12:1e3  9x:. word1234:1e-3	9x:1 x |	foo	9x:1a 9x:-0 | :2.5 x:+1 |ns 0:inf longerthan8:0 007:nan a a
junk	1 |ns longerthan8:0x1p3 word1234:3.	9x |~ 9x  || 0:nan :nan foo word1234:1:2 a |size |a 
 |~ word1234 12 a 007 |ns:- |  007 a:1	longerthan8:1:2|n:inf 12 007 yy:-0 é |:+1  a :0.123456789 yy:abc yy:1  007:1|	x:- 12 a:b 
tag|n 007 x:1e3 b |12:12345678 x 0:1:2
junk	1 |: 007:nan  é  0 b: yy:abc |b:-1 |b 0:1 
tag|~ a 9x:1:  9x:.	yy:1|ns 9x 0:3.  longerthan8 |12 :-0 |  é x foo x:12345678 foo 
|12 a 12:1:2 007 é:1: word1234:0.125 |12 longerthan8:1a 12:nan 0:3.  12:1:2	word1234:-0 |é a:1:2 |size a:b|a  12 word1234 
1 |ns word1234:1a 0: yy | foo:0 foo é:1:	x	longerthan8:nan
0 .5 .25 |b:1a é yy  x 0 |	a:1:  a:inf é  |12 0 12:2.5 x a:b:3. foo|~	b:1e3 é:- 9x:1e3 12:3. |ns longerthan8:1a 9x:-0 yy |:1: foo:12345678 a:nan a a:b word1234 
1 |12 yy |b 12:1e3 é:+1 a:3. x 0:1e-3 |é word1234	007 word1234:nan é:-1 |: longerthan8:+1 |:.5 007:12345678 0:1 word1234:0.125 
1 |12 a:b:1a  é foo:1 | word1234:+1	yy longerthan8:- 12:-0 |ns word1234
-1 |~:2.5 9x:nan yy:abc  |: 007:nan a a:b b:abc |12  word1234	12  a:1: 
0 .5 .25 | | a:0.123456789	word1234 word1234:0.123456789 |~ 12:. x:-1 é : foo
1 |: |ns	longerthan8:3. 12:nan yy | a:b:0.125 0:nan 007: b a:b |ns é  9x foo:-0  yy:0 
 |ns foo:1:2 é:+1 a:0	longerthan8 foo:1 | a:nan x:1e-3	word1234  word1234:inf 0:1 |~  007:1a   |b b a:inf  longerthan8 |a  |12 9x  é a:b a

-1 | foo 0:- word1234 |n b  007:3. word1234 
-1 |é  x|ns:. longerthan8:.5	9x	007 007:-1 x:2.5 
