# SPDX-License-Identifier: MIT
"""Random instructions after the grammar of the PTX manual, and near misses of them.

A rule is an opcode with its modifiers, and its operands. `[.a|.b]` is one of these or none,
`<.a|.b>` one of them. `.T` and `.U` are types, of the lists that follow. Operands are letters:
d a      destination and source of type T     D A      the same of type U
W w      the same, twice as wide as T         p q      destination and source predicate
u        32 bits                              i        a small number
x        64 bits                              G S L C P E   addresses: global, shared, local,
                                                       const, param, generic
A number behind a letter makes it a vector.
"""
import random
import re

INT16 = "u16 s16 u32 s32 u64 s64"
BITS = "b16 b32 b64"
FLOAT = "f32 f64"
HALF = "f16 f16x2 bf16 bf16x2"
ALL = "b8 u8 s8 b16 u16 s16 f16 bf16 b32 u32 s32 f32 b64 u64 s64 f64"
CACHE = "[.ca|.cg|.cs|.lu|.cv]"
WRITE = "[.wb|.cg|.cs|.wt]"
ROUND = "[.rn|.rz|.rm|.rp]"
FLOATS = "f16 f32 f64 bf16 tf32"
ADDED = "u32 s32 u64 s64 f32 f64"
ORDER = "[.weak|.relaxed.cta|.relaxed.gpu|.acquire.sys|.acquire.cluster|.volatile|.release.gpu]"
STORE = "[.weak|.relaxed.cta|.relaxed.gpu|.release.sys|.release.cluster|.volatile|.acquire.gpu]"
EVICT = "[.L1::evict_last|.L1::evict_first|.L1::no_allocate|.L1::evict_unchanged|]"
SCOPE = "[.cta|.gpu|.sys|.cluster]"
COMPARE = "<.eq|.ne|.lt|.le|.gt|.ge|.lo|.ls|.hi|.hs|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan>"

RULES = f"""
add[.sat].T d,a,a : {INT16} u16x2 s16x2
add{ROUND}[.ftz][.sat].T d,a,a : {FLOAT} {HALF}
sub[.sat].T d,a,a : {INT16}
sub{ROUND}[.ftz][.sat].T d,a,a : {FLOAT} {HALF}
add[.cc].T d,a,a : u32 s32 u64 s64
addc[.cc].T d,a,a : u32 s32 u64 s64
sub[.cc].T d,a,a : u32 s32 u64 s64
subc[.cc].T d,a,a : u32 s32 u64 s64
mul<.hi|.lo>.T d,a,a : {INT16}
mul.wide.T W,a,a : u16 s16 u32 s32
mul{ROUND}[.ftz][.sat].T d,a,a : {FLOAT} {HALF}
mad<.hi|.lo>[.sat].T d,a,a,a : {INT16}
mad.wide.T W,a,a,w : u16 s16 u32 s32
mad<.hi|.lo>[.cc].T d,a,a,a : u32 s32 u64 s64
madc<.hi|.lo>[.cc].T d,a,a,a : u32 s32 u64 s64
mad{ROUND}[.ftz][.sat].T d,a,a,a : {FLOAT}
fma{ROUND}[.ftz][.sat|.relu].T d,a,a,a : {FLOAT} {HALF}
mul24<.hi|.lo>.T d,a,a : u32 s32
mad24<.hi|.lo>[.sat].T d,a,a,a : u32 s32
sad.T d,a,a,a : {INT16}
div.T d,a,a : {INT16}
div<.approx|.full|.rn|.rz|.rm|.rp>[.ftz].T d,a,a : {FLOAT}
rem.T d,a,a : {INT16}
abs[.ftz].T d,a : s16 s32 s64 {FLOAT} {HALF}
neg[.ftz].T d,a : s16 s32 s64 {FLOAT} {HALF}
min[.relu].T d,a,a : {INT16} u16x2 s16x2
max[.relu].T d,a,a : {INT16} u16x2 s16x2
min[.ftz][.NaN][.xorsign.abs].T d,a,a : {FLOAT} {HALF}
max[.ftz][.NaN][.xorsign.abs].T d,a,a : {FLOAT} {HALF}
min[.ftz][.NaN][.abs].T d,a,a,a : f32
popc.T u,a : b32 b64
clz.T u,a : b32 b64
bfind[.shiftamt].T u,a : u32 s32 u64 s64
fns.b32 u,u,u,u : b32
brev.T d,a : b32 b64
bfe.T d,a,u,u : u32 s32 u64 s64
bfi.T d,a,a,u,u : b32 b64
szext<.clamp|.wrap>.T d,a,u : u32 s32
bmsk<.clamp|.wrap>.b32 u,u,u : b32
dp4a.T.U D,a,A,A : u32 s32 : u32 s32
dp2a<.lo|.hi>.T.U D,a,A,A : u32 s32 : u32 s32
testp<.finite|.infinite|.number|.notanumber|.normal|.subnormal>.T p,a : {FLOAT}
copysign.T d,a,a : {FLOAT}
rcp<.approx|.rn|.rz|.rm|.rp>[.ftz].T d,a : {FLOAT}
rcp.approx.ftz.T d,a : f64
sqrt<.approx|.rn|.rz|.rm|.rp>[.ftz].T d,a : {FLOAT}
rsqrt.approx[.ftz].T d,a : {FLOAT}
sin.approx[.ftz].T d,a : f32
cos.approx[.ftz].T d,a : f32
lg2.approx[.ftz].T d,a : f32
ex2.approx[.ftz].T d,a : f32 {HALF}
tanh.approx.T d,a : f32 {HALF}
set{COMPARE}[.ftz].T.U d,A,A : u32 s32 f32 f16 bf16 u16 s16 : {INT16} {BITS} {FLOAT} {HALF}
set{COMPARE}<.and|.or|.xor>[.ftz].T.U d,A,A,q : u32 s32 f32 f16 : {INT16} {BITS} {FLOAT} f16
setp{COMPARE}[.ftz].T p,a,a : {INT16} {BITS} {FLOAT} {HALF}
setp{COMPARE}[.ftz].T p|p,a,a : {INT16} {BITS} {FLOAT} {HALF}
setp{COMPARE}<.and|.or|.xor>[.ftz].T p,a,a,q : {INT16} {BITS} {FLOAT} f16
selp.T d,a,a,q : {INT16} {BITS} {FLOAT}
slct[.ftz].T.U d,a,a,A : {INT16} {BITS} {FLOAT} : s32 f32
and.T d,a,a : {BITS} pred
or.T d,a,a : {BITS} pred
xor.T d,a,a : {BITS} pred
not.T d,a : {BITS} pred
cnot.T d,a : {BITS}
lop3.b32 u,u,u,u,i : b32
lop3<.or|.and>.b32 u|p,u,u,u,i,q : b32
shf<.l|.r><.clamp|.wrap>.b32 u,u,u,u : b32
shl.T d,a,u : {BITS}
shr.T d,a,u : {BITS} {INT16}
prmt.b32[.f4e|.b4e|.rc8|.ecl|.ecr|.rc16] u,u,u,u : b32
mov.T d,a : {BITS} u16 s16 u32 s32 u64 s64 {FLOAT} pred
mov.b32 u,d2 : b16
mov.b64 x,d2 : b32
mov.b64 x,d4 : b16
mov.b32 d2,u : b16
mov.b64 d2,x : b32
cvt.T.U d,A : u8 s8 {INT16} : u8 s8 {INT16}
cvt[.sat].T.U d,A : u8 s8 {INT16} : u8 s8 {INT16}
cvt<.rni|.rzi|.rmi|.rpi>[.ftz][.sat].T.U d,A : u8 s8 {INT16} : f16 f32 f64 bf16
cvt<.rn|.rz|.rm|.rp>[.ftz][.sat].T.U d,A : f16 f32 f64 bf16 : u8 s8 {INT16}
cvt[.rn|.rz|.rm|.rp|.rni|.rzi|.rmi|.rpi][.ftz][.sat|.relu].T.U d,A : {FLOATS} : {FLOATS}
cvt<.rn|.rz|.rna>[.satfinite][.relu].T.f32 d,A : f16 bf16 tf32 : f32
cvt<.rn|.rz>[.satfinite][.relu].T.f32 d,A,A : f16x2 bf16x2 : f32
cvt.rn.satfinite[.relu].T.f32 d,A,A : e4m3x2 e5m2x2 e2m1x2 e2m3x2 : f32
cvt.rn.satfinite[.relu].T.f16x2 d,A : e4m3x2 e5m2x2 : f16x2
cvt.rn[.relu].f16x2.U D,A : f16x2 : e4m3x2 e5m2x2
cvt.pack.sat.T.s32 u,u,u : u16 s16
cvt.pack.sat.T.s32.b32 u,u,u,u : u8 s8 u4 s4 u2 s2
cvta<.global|.shared|.local|.const|.param>.T d,a : u32 u64
cvta.to<.global|.shared|.local|.const|.param>.T d,a : u32 u64
isspacep<.global|.shared|.local|.const|.param|.shared::cta|.shared::cluster> p,x : b64
ld{ORDER}.global{CACHE}[.v2|.v4].T d,G : {ALL}
ld.global{CACHE}.nc{EVICT}[.L2::64B|.L2::128B].T d,G : {ALL}
ld{ORDER}<.shared|.shared::cta|.shared::cluster>.T d,S : {ALL}
ld[.volatile].local{CACHE}.T d,L : {ALL}
ld.const.T d,C : {ALL}
ld.param.T d,P : {ALL}
ld{ORDER}{CACHE}.T d,E : {ALL}
ld.global{CACHE}.v2.T d2,G : {ALL}
ld{ORDER}.global.v4.T d4,G : {ALL}
ld.global.v8.T d8,G : {ALL}
ld{ORDER}.shared<.v2|.v4>.T d2,S : {ALL}
ld<.shared|.local|.const|.param>.v4.T d4,S : {ALL}
ldu[.global].T d,G : {ALL}
ldu.global.v2.T d2,G : {ALL}
st{STORE}.global{WRITE}{EVICT}.T G,a : {ALL}
st{STORE}<.shared|.shared::cta|.shared::cluster>.T S,a : {ALL}
st[.volatile].local{WRITE}.T L,a : {ALL}
st{STORE}{WRITE}.T E,a : {ALL}
st.global{WRITE}.v2.T G,d2 : {ALL}
st{STORE}.global.v4.T G,d4 : {ALL}
st.global.v8.T G,d8 : {ALL}
st.shared.v4.T S,d4 : {ALL}
prefetch<.global|.local|><.L1|.L2> G : b32
prefetch.global<.L2::evict_last|.L2::evict_normal> G : b32
prefetchu.L1 E : b32
applypriority[.global].L2::evict_normal G,128 : b32
discard[.global].L2 G,128 : b32
atom[.relaxed|.acquire|.release|.acq_rel]{SCOPE}[.global|.shared]<.add|.min|.max>.T d,G,a : {ADDED}
atom{SCOPE}[.global|.shared]<.and|.or|.xor|.exch>.T d,G,a : b32 b64
atom{SCOPE}[.global|.shared].cas.T d,G,a,a : b16 b32 b64
atom[.global|.shared]<.inc|.dec>.T d,G,a : u32
atom{SCOPE}[.global|.shared].add.noftz.T d,G,a : {HALF}
red[.relaxed|.release]{SCOPE}[.global|.shared]<.add|.min|.max>.T G,a : {ADDED}
red{SCOPE}[.global|.shared]<.and|.or|.xor|.inc|.dec>.T G,a : u32 b32 b64
red{SCOPE}[.global|.shared].add.noftz.T G,a : {HALF}
membar<.cta|.gl|.sys> : b32
fence<.sc|.acq_rel><.cta|.gpu|.sys|.cluster> : b32
fence.proxy<.alias|.async|.async.global|.async.shared::cta> : b32
bar[.warp].sync u : b32
bar.sync u,u : b32
bar.arrive u,u : b32
bar.red.popc.u32 u,u,q : b32
bar.red<.and|.or>.pred p,u,q : b32
barrier[.cta].sync[.aligned] u : b32
barrier.cluster.arrive[.release|.relaxed][.aligned] : b32
barrier.cluster.wait[.acquire][.aligned] : b32
shfl.sync<.up|.down|.bfly|.idx>.b32 u,u,u,u,u : b32
shfl.sync<.up|.down|.bfly|.idx>.b32 u|p,u,u,u,u : b32
vote.sync<.all|.any|.uni>.pred p,q,u : b32
vote.sync.ballot.b32 u,q,u : b32
match.any.sync.T u,a,u : b32 b64
match.all.sync.T u|p,a,u : b32 b64
redux.sync<.add|.min|.max>.T d,a,u : u32 s32
redux.sync<.and|.or|.xor>.b32 u,u,u : b32
activemask.b32 u : b32
elect.sync u|p,u : b32
nanosleep.u32 u : b32
pmevent i : b32
trap : b32
brkpt : b32
ret : b32
exit : b32
griddepcontrol<.wait|.launch_dependents> : b32
setmaxnreg<.inc|.dec>.sync.aligned.u32 i8 : b32
cp.async<.ca|.cg>.shared.global[.L2::128B] S,G,<4|8|16|12> : b32
cp.async.commit_group : b32
cp.async.wait_group i : b32
cp.async.wait_all : b32
cp.async.mbarrier.arrive[.noinc][.shared].b64 S : b32
mbarrier.init[.shared|.shared::cta].b64 S,u : b32
mbarrier.inval[.shared].b64 S : b32
mbarrier.arrive[.release.cta][.shared].b64 x,S : b32
mbarrier.arrive.expect_tx[.shared].b64 x,S,u : b32
mbarrier.test_wait[.parity][.shared].b64 p,S,u : b32
mbarrier.try_wait[.shared].b64 p,S,x : b32
mapa.T d,a,u : u32 u64
getctarank.T u,a : u32 u64
createpolicy.fractional<.L2::evict_last|.L2::evict_first>.b64 x : b32
alloca.u64 x,x : b32
stacksave.u64 x : b32
ldmatrix.sync.aligned.m8n8<.x1|.x2|.x4>[.trans][.shared].b16 u1,S : b32
ldmatrix.sync.aligned.m8n8.x4[.trans][.shared].b16 u4,S : b32
stmatrix.sync.aligned.m8n8.x2[.trans][.shared].b16 S,u2 : b32
movmatrix.sync.aligned.m8n8.trans.b16 u,u : b32
vadd.T.T.T[.sat] d,a,a : u32 s32
vsub.T.T.T[.sat] d,a,a : u32 s32
vmin.T.T.T d,a,a : u32 s32
vabsdiff.T.T.T d,a,a : u32 s32
vshl.u32.u32.u32<.clamp|.wrap> u,u,u : b32
vadd2.T.T.T[.sat] d,a,a,a : u32 s32
vadd4.T.T.T[.add] d,a,a,a : u32 s32
vset.T.T{COMPARE} u,a,a : u32 s32
tex.1d.v4.T.s32 d4,[tref,{{u}}] : u32 s32 f32
istypep<.texref|.samplerref|.surfref> p,x : b64
"""

SAMPLE = {  # registers that fit a type
    "b8": "h r x", "u8": "h r x", "s8": "h r x", "b16": "h u16_ s16_ g", "u16": "h u16_",
    "s16": "h s16_", "f16": "h g", "bf16": "h", "f16x2": "r gg", "bf16x2": "r", "u16x2": "r",
    "s16x2": "r", "b32": "r u s f", "u32": "r u s", "s32": "r s u", "f32": "f r", "tf32": "r",
    "b64": "x ux sx d", "u64": "x ux sx", "s64": "x sx ux", "f64": "d x", "pred": "p",
    "e4m3x2": "h", "e5m2x2": "h", "e2m1x2": "h", "e2m3x2": "h", "u4": "r", "s4": "r", "u2": "r",
    "s2": "r",
}
WIDE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64", "u64": "b128", "s64": "b128"}
REGISTERS = [("b8", "t"), ("b16", "h"), ("u16", "u16_"), ("s16", "s16_"), ("f16", "g"),
             ("f16x2", "gg"), ("b32", "r"), ("u32", "u"), ("s32", "s"), ("f32", "f"),
             ("b64", "x"), ("u64", "ux"), ("s64", "sx"), ("f64", "d"), ("pred", "p")]
SPECIAL = ["%tid.x", "%laneid", "%clock", "%clock64", "%lanemask_lt", "%ctaid.y", "%globaltimer",
           "%smid", "%envreg3"]
IMMEDIATE = {"f32": ["0f3F800000", "1.5", "1"], "f64": ["0d3FF0000000000000", "2.0", "3"]}
ADDRESS = {"G": ["[x0]", "[ux1+4]", "[gvar]", "[gvar+8]"], "S": ["[r0]", "[x0]", "[svar]"],
           "L": ["[x0]", "[lvar+4]"], "C": ["[cvar]", "[x0+8]"], "P": ["[kp]", "[kp+4]"],
           "E": ["[x0]", "[sx1+16]", "[x0+-8]"]}
# Declarations: of variables, registers, parameters and functions, and directives in bodies. A line
# that begins with ^ stands outside of functions; N is a name of its own.
KINDS = "b8 u8 s8 b16 u16 s16 f16 bf16 b32 u32 s32 f32 b64 u64 s64 f64 pred f16x2 b128 tf32".split()
ALIGN = ["", "", "", ".align 4", ".align 16", ".align 8", ".align 1", ".align 128", ".align 3",
         ".align 0", ".align 1024"]
VECTOR = ["", "", "", ".v2", ".v4", ".v8", ".v3"]
SIZES = ["", "", "", "[4]", "[2][3]", "[]", "[0]", "[-1]", "[1<<3]", "[2*3+1]", "[4][]", "[][4]",
         "[0x10]", "[sizeof]", "[1.5]"]
VALUES = ["", "", "", "= 1", "= -1", "= 300", "= {1, 2, 3}", "= {1, 2, 3, 4, 5}", "= 1.5",
          "= 0f3F800000", "= 0d3FF0000000000000", "= {1.5, 2}", "= gvar", "= gvar+4", "= {gvar, 0}",
          "= generic(gvar)", "= cvar", "= svar", "= k", "= {{1, 2}, {3, 4}}", "= {}", "= nobody",
          "= 0xFF(gvar)", "= 1 << 4", "= (1 > 2) ? 3 : 4", "= ~0", "= !1", "= 0x123456789", "= 7U",
          "= WARP_SZ", "= {1, }"]
LINKAGE = ["", "", "", ".visible", ".weak", ".extern", ".common", ".visible .extern"]
DIRECTIVES = [".maxntid 32", ".maxntid 32, 2", ".maxntid 32, 2, 1", ".maxntid 32, 2, 1, 1",
              ".maxntid 0", ".maxntid 1025", ".reqntid 32", ".reqntid 8, 8, 8",
              ".reqntid 32, 1", ".minnctapersm 2", ".maxnctapersm 2", ".maxnreg 32",
              ".maxnreg 0", ".noreturn", ".pragma \"nounroll\";", ".pragma \"what\";",
              ".reqnctapercluster 2", ".explicitcluster", ".maxclusterrank 4", ".blocksareclusters",
              ".align 8"]
POINTER = ["", "", "", ".ptr", ".ptr .global", ".ptr .shared .align 8", ".ptr .align 4",
           ".ptr .const", ".ptr .local .align 3", ".ptr .reg"]
BODY = [".pragma \"nounroll\";", ".pragma nounroll;", ".pragma \"a\", \"b\";", ".loc 1 2 3;",
        "N: .branchtargets N;", "N:", "N: ;", ";", "{ .reg .u32 N; mov.u32 N, 1; }", "{", "{ }",
        "N: .callprototype _ (.param .b32 _);", "N: .callprototype (.param .b32 _) _ ();",
        "N: .callprototype ();", "N: .callprototype _ (.reg .u32 a) .noreturn;",
        "N: .calltargets f;", "N: .calltargets nobody;", "bra N; N:", "@p0 bra nobody;",
        "call f, (r0);", "call (r0), f, (r1);", "call.uni f, (1);", "call f;", "call f, (x0);",
        "call nobody;", "call (r0), g, (r1, r2);", "call (r0), g, (r1);", "call g, (r1);",
        ".param .b32 N; st.param.b32 [N], r0; call f, (N);",
        ".param .b64 N; st.param.b64 [N], x0; call f, (N);",
        ".file 1 \"a.cu\"", ".maxntid 3", ".section .N { }",
        ".minnctapersm 1;", ".entry N() { ret; }"]
OUTSIDE = ["^.file 1 \"a.cu\"", "^.file 1 \"a.cu\", 12, 34", "^.file \"a.cu\"", "^;",
           "^.section .debug_N { .b8 1, 2 }", "^.section .debug_N { .b32 N }", "^.alias N, f;",
           "^.pragma \"nounroll\";", "^.address_size 64", "^.target sm_80",
           "^.func N;", "^.func N() { ret; }",
           "^.func (.reg .u32 a) N(.reg .u32 b) { mov.u32 a, b; }",
           "^.func (.param .b32 a, .param .b32 b) N() { ret; }", "^.extern .func N(.param .b32 a);",
           "^.weak .func N() { ret; }", "^.common .func N() { ret; }", "^.visible .func N() { }",
           "^.func N() .noreturn { trap; }", "^.func (.param .b32 a) N() .noreturn { trap; }",
           "^.entry N { ret; }", "^.entry N() { ret }", "^.extern .entry N() { ret; }",
           "^.extern .entry N();", "^.weak .entry N() { ret; }", "^.visible .entry N();",
           "^.global .texref N;", "^.global .surfref N;", "^.global .samplerref N;",
           "^.tex .u32 N;",
           "^.global .texref N[4];", "^.const .texref N;", "^.visible .global .texref N;",
           "^.extern .shared .align 16 .b8 N[];", "^.extern .shared .b8 N;", "^.shared .b8 N[];",
           "^.global .attribute(.managed) .s32 N;", "^.global .attribute(.unified(1,2)) .s32 N;",
           "^.const .attribute(.managed) .s32 N;", "^.global .attribute(.what) .s32 N;",
           "^.reg .u32 N;", "^.local .u32 N;", "^.param .u32 N;", "^N:", "^mov.u32 r0, 1;"]

MODIFIERS = sorted({one for line in RULES.splitlines()
                    for one in re.findall(r"\.[A-Za-z][A-Za-z0-9_:]*", line.split(" : ")[0])
                    if one not in (".T", ".U")})
TYPES = sorted(set(SAMPLE) - {"pred"})


class Grammar:
    """Instructions in a sequence that the seed decides."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rules = [line for line in RULES.splitlines() if line.strip()]
        self.names = 0

    def one_of(self, *choices):
        """One of them."""
        return self.random.choice(choices)

    def sometimes(self, probability):
        """Is it so this time?"""
        return self.random.random() < probability

    def register(self, kind, count=4):
        """A register that fits a type."""
        names = SAMPLE.get(kind, "x").split()
        name = names[0] if self.sometimes(.7) else self.one_of(*names)
        return f"{name}{self.random.randrange(count)}"

    def source(self, kind):
        """A source operand of a type."""
        if self.sometimes(.75) or kind == "pred":
            return self.register(kind)
        if self.sometimes(.85):
            return self.one_of(*IMMEDIATE.get(kind, ["1", "-1", "255", "65536", "0x80000000"]))
        return self.one_of(*SPECIAL)

    def operand(self, letter, first, second):
        """An operand of a rule."""
        match = re.fullmatch(r"([a-zA-Z])(\d)", letter)
        if letter.startswith(("[", "<", "{")) or letter.isdigit():
            letter = re.sub(r"<(.*?)>", lambda m: self.one_of(*m[1].split("|")), letter)
            return letter.replace("{u}", "{r1}")
        if "|" in letter:
            return "|".join(self.operand(one, first, second) for one in letter.split("|"))
        if match and match[1] == "i":
            return str(8 * self.random.randrange(40))
        if match:
            parts = [self.operand("d" if match[1] == "d" else "u", first, second)
                     for _ in range(int(match[2]))]
            return "{" + ",".join(parts) + "}"
        return {
            "d": lambda: self.register(first), "a": lambda: self.source(first),
            "D": lambda: self.register(second or first), "A": lambda: self.source(second or first),
            "W": lambda: self.register(WIDE.get(first, first)),
            "w": lambda: self.source(WIDE.get(first, first)),
            "p": lambda: self.register("pred"),
            "q": lambda: self.one_of("", "", "!") + self.register("pred"),
            "u": lambda: (self.register("u32") if self.sometimes(.7) else
                          self.one_of("3", "0", "31")),
            "x": lambda: self.register("u64"), "i": lambda: self.one_of("0", "7", "128", "255"),
        }.get(letter, lambda: self.one_of(*ADDRESS[letter]))()

    def anything(self):
        """An operand of any kind."""
        return self.one_of(lambda: self.register(self.one_of(*TYPES)), lambda: "1",
                           lambda: "1.5", lambda: self.one_of(*SPECIAL), lambda: "p1",
                           lambda: "_", lambda: "{r0,r1}", lambda: "gvar", lambda: "[x0]",
                           lambda: "-r0", lambda: "{h0,h1}")()

    def instruction(self):
        """One; about half of them are near misses."""
        left, first, *second = self.one_of(*self.rules).split(" : ")
        first = self.one_of(*first.split())
        second = self.one_of(*second[0].split()) if second else ""
        code, _, operands = left.strip().partition(" ")
        code = re.sub(r"\[(.*?)\]",
                      lambda m: self.one_of(*m[1].split("|")) if self.sometimes(.3) else "", code)
        code = re.sub(r"<(.*?)>", lambda m: self.one_of(*m[1].split("|")), code)
        code = re.sub(r"\.T\b", "." + first, code)
        code = re.sub(r"\.U\b", "." + second, code)
        given = [self.operand(one, first, second) for one in operands.split(",")] if "[" not in \
            operands and operands else [self.operand(one, first, second) for one in
                                        re.findall(r"\[.*\]|[^,]+", operands)]
        if self.sometimes(.5):
            code, given = self.miss(code, given)
        return f"{code} {', '.join(given)};".replace(" ;", ";")

    def declaration(self):
        """One; most are right."""
        self.names += 1
        name, kind = f"n{self.names}", self.one_of(*KINDS)
        shape = self.random.randrange(8)
        if shape <= 1:
            text = " ".join(["^" + self.one_of(*LINKAGE),
                             self.one_of(".global", ".global", ".const", ".shared"),
                             self.one_of(*ALIGN), self.one_of(*VECTOR), f".{kind}",
                             name + self.one_of(*SIZES), self.one_of(*VALUES)]) + ";"
        elif shape == 2:
            text = " ".join([self.one_of(".local", ".shared", ".param", ".global", ".const"),
                             self.one_of(*ALIGN), self.one_of(*VECTOR), f".{kind}",
                             name + self.one_of(*SIZES),
                             self.one_of(*VALUES) if self.sometimes(.2) else ""]) + ";"
        elif shape == 3:
            text = " ".join([".reg", self.one_of(*VECTOR), f".{kind}",
                             name + self.one_of("", "<4>", "<0>", "<N>", ", q" + name, "[2]",
                                                "<2>, q" + name, " = 1")]) + ";"
        elif shape <= 5:
            params = ", ".join(
                f"{self.one_of('.param', '.param', '.param', '.reg')} {self.one_of(*ALIGN)} "
                f".{self.one_of(*KINDS)} {self.one_of(*POINTER)} p{i}"
                f"{self.one_of('', '', '[8]', '[]')}" for i in range(self.random.randrange(3)))
            text = (f"^{self.one_of('', '.visible', '.weak')} .entry {name}({params}) "
                    f"{' '.join(self.one_of(*DIRECTIVES) for _ in range(self.random.randrange(3)))}"
                    " { ret; }")
        else:
            text = self.one_of(*BODY) if shape == 6 else self.one_of(*OUTSIDE)
            text = re.sub(r"\bN\b", name, text)
        return re.sub(" +", " ", text).replace("^ ", "^").strip()

    def miss(self, code, given):
        """A near miss of an instruction, which may be right too."""
        name, *parts = code.split(".")
        place = self.random.randrange(len(parts) + 1)
        kind = self.random.randrange(6)
        if kind == 0:
            parts.insert(place, self.one_of(*MODIFIERS)[1:])
        elif kind == 1 and parts:
            del parts[min(place, len(parts) - 1)]
        elif kind == 2 and parts:
            types = [i for i, part in enumerate(parts) if part in TYPES]
            if types:
                parts[self.one_of(*types)] = self.one_of(*TYPES)
        elif kind == 3 and given:
            del given[self.random.randrange(len(given))]
        elif kind == 4:
            given.insert(self.random.randrange(len(given) + 1), self.anything())
        elif given:
            given[self.random.randrange(len(given))] = self.anything()
        return ".".join([name, *parts]), given


def module(version, target, lines):
    """A module with them, and the number of the line of each."""
    text = [f".version {version}", f".target {target}", ".address_size 64",
            ".global .align 16 .b8 gvar[64];", ".const .align 16 .b8 cvar[64];",
            ".global .texref tref;", ".shared .align 16 .b8 svar[64];",
            ".func f(.param .b32 a) { ret; }",
            ".func (.param .b32 o) g(.param .b32 a, .param .b32 b) { ret; }"]
    places = [0] * len(lines)

    def put(outside):
        for i, line in enumerate(lines):
            if line.startswith("^") == outside:
                text.append(line.lstrip("^"))
                places[i] = len(text)

    put(True)
    text += [".visible .entry k(.param .align 16 .b8 kp[64]) {", ".local .align 16 .b8 lvar[64];"]
    text += [f".reg .{kind} {name}<9>;" for kind, name in REGISTERS]
    put(False)
    return "\n".join([*text, "ret;", "}", ""]), places
