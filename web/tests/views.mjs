// What there is to look at: an address for everything the page shows, and the screens it is shown on.

/** Name and address of every part, and of what each can show. */
export const VIEWS = [
  ["layout", "#layout"],
  ["tiles", "#layout?spec=f32[6,10]{1,0:T(4,4)}&at=2,5"],
  ["vector", "#layout?spec=bf16[300]{0:T(8,128)}"],
  ["panels", "#layout?spec=NHWC&dims=2,3,4,5"],
  ["large", "#layout?spec=[1024,1024]+(m1+m0:16)+(n1+n0:16)+->+n1+m1+m0+n0"],
  ["wide", "#layout?spec=f16[48,3000]+zN"],
  ["banks", "#layout?spec=Sw<3,3,3>+o+(8,64):(64,1)&dtype=f16&colour=bank&vector=8"],
  ["threads", "#layout?spec=%23ttg.blocked<{sizePerThread=[1,2],threadsPerWarp=[8,4],warpsPerCTA=[2,1],order=[1,0]}>&dims=16,8&dtype=f16"],
  ["devices", "#layout?spec=bf16[96,64]+@+mesh(dp=2,tp=4)+[Replicate(),+Shard(0)]"],
  ["sent", "#layout?spec=make_identity_layout((2,3))"],
  ["table", "#layout?spec=f16[8,12]+table(0;+3,1,-,0,2,7,5,6,4)+row-major&at=2,5"],
  ["kernel", "#layout?spec=u1[64,5,3]+GPTQ_3BIT"],
  ["axe", "#layout?spec=T.TileLayout(T.S[(8,+4,+2):(4,+1,+32)])"],
  ["error", "#layout?spec=row-mayor"],
  ["convert", "#convert"],
  ["weights", "#convert?a=row-major&b=zN&dims=32,48&dtype=f16"],
  ["experts", "#convert?a=row-major&b=table(0/4;+2,0,1)+row-major&dims=12,6"],
  ["algebra", "#algebra"],
  ["product", "#algebra?op=blocked_product&a=(2,2):(2,1)&b=(3,4):(4,1)"],
  ["values", "#algebra?op=make_layout_tv&a=(4,8):(8,1)&b=(1,2):(2,1)"],
  ["expression", "#algebra?op=expression&a=zipped_divide(blocked_product((2,2):(2,1),+(3,4):(4,1)),+<2,4>)"],
  ["gallery", "#gallery"],
];

/** The screens: two of desks, two of hands. */
export const SCREENS = [
  { width: 1400, height: 900 },
  { width: 768, height: 1024 },
  { width: 390, height: 844 },
  { width: 320, height: 640 },
];
