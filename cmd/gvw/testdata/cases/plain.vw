1 | x y z
-1 | y w |a q:2
1 | x w |a q:-1 r
