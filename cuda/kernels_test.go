package cuda

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// Kernels for the tests, in PTX written by hand as package device's abi.go demands. The fake
// driver executes what they mean, see fakeKernel.

// multiplyKernel stores a[i]*b[i] in c[i] for each i below len(c).
func multiplyKernel() *device.Kernel {
	return &device.Kernel{
		Name: "multiply", Package: "test",
		Params:     []device.Param{slice("a", 0), slice("b", 24), slice("c", 48)},
		ParamBytes: 72 + device.HiddenBytes,
		Variants:   []device.Variant{{Target: device.Capability{Major: 7}, PTX: multiplyPTX}},
	}
}

func slice(name string, at int) device.Param {
	return device.Param{Name: name, Offset: at, Size: 24, Elem: 4}
}

const multiplyPTX = `.version 6.0
.target sm_70
.address_size 64
.visible .entry multiply(.param .align 8 .b8 multiply_params[88])
{
	.reg .pred %p<2>;
	.reg .b32 %r<5>;
	.reg .b64 %rd<10>;
	.reg .f32 %f<4>;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r4, %r1, %r2, %r3;
	cvt.s64.s32 %rd1, %r4;
	ld.param.u64 %rd2, [multiply_params+56];
	setp.ge.s64 %p1, %rd1, %rd2;
	@%p1 bra DONE;
	ld.param.u64 %rd3, [multiply_params];
	ld.param.u64 %rd4, [multiply_params+24];
	ld.param.u64 %rd5, [multiply_params+48];
	shl.b64 %rd6, %rd1, 2;
	add.s64 %rd7, %rd3, %rd6;
	add.s64 %rd8, %rd4, %rd6;
	add.s64 %rd9, %rd5, %rd6;
	ld.global.f32 %f1, [%rd7];
	ld.global.f32 %f2, [%rd8];
	mul.rn.f32 %f3, %f1, %f2;
	st.global.f32 [%rd9], %f3;
DONE:
	ret;
}
`

// faultKernel is x[i] = float32(i) for every thread i: those from len(x) on are out of range.
func faultKernel() *device.Kernel {
	return &device.Kernel{
		Name: "fault", Package: "test",
		Params:     []device.Param{slice("x", 0)},
		ParamBytes: 24 + device.HiddenBytes,
		Sites: []device.Site{{
			File: "kernels.go", Line: 12, Format: "index out of range [%d] with length %d",
			Args: []dtype.Type{dtype.Int64, dtype.Int64},
		}},
		Variants: []device.Variant{{Target: device.Capability{Major: 7}, PTX: faultPTX}},
	}
}

const faultPTX = `.version 6.0
.target sm_70
.address_size 64
.visible .entry fault(.param .align 8 .b8 fault_params[40])
{
	.reg .pred %p<3>;
	.reg .b32 %r<16>;
	.reg .b64 %rd<10>;
	.reg .f32 %f<2>;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r4, %r1, %r2, %r3;
	cvt.s64.s32 %rd1, %r4;
	ld.param.u64 %rd2, [fault_params+8];
	setp.ge.u64 %p1, %rd1, %rd2;
	@%p1 bra FAULT;
	ld.param.u64 %rd3, [fault_params];
	shl.b64 %rd4, %rd1, 2;
	add.s64 %rd5, %rd3, %rd4;
	cvt.rn.f32.s32 %f1, %r4;
	st.global.f32 [%rd5], %f1;
	bra DONE;
FAULT:
	ld.param.u64 %rd6, [fault_params+24];
	atom.global.cas.b32 %r5, [%rd6], 0, 1;
	setp.ne.u32 %p2, %r5, 0;
	@%p2 bra DONE;
	ld.global.u64 %rd7, [%rd6+8];
	ld.param.u32 %r6, [fault_params+32];
	ld.param.u32 %r7, [fault_params+36];
	st.global.u32 [%rd7+4], %r6;
	st.global.u32 [%rd7+8], %r7;
	mov.u32 %r8, 0;
	st.global.u32 [%rd7+12], %r8;
	st.global.u32 [%rd7+16], %r1;
	mov.u32 %r9, %ctaid.y;
	st.global.u32 [%rd7+20], %r9;
	mov.u32 %r10, %ctaid.z;
	st.global.u32 [%rd7+24], %r10;
	st.global.u32 [%rd7+28], %r3;
	mov.u32 %r11, %tid.y;
	st.global.u32 [%rd7+32], %r11;
	mov.u32 %r12, %tid.z;
	st.global.u32 [%rd7+36], %r12;
	st.global.u64 [%rd7+40], %rd1;
	st.global.u64 [%rd7+48], %rd2;
	membar.sys;
	mov.u32 %r13, 56;
	st.global.u32 [%rd7], %r13;
DONE:
	ret;
}
`

// printKernel prints one line per thread.
func printKernel() *device.Kernel {
	return &device.Kernel{
		Name: "print", Package: "test",
		ParamBytes: device.HiddenBytes,
		Sites: []device.Site{{
			File: "kernels.go", Line: 20, Format: "thread %d of block %d\n",
			Args: []dtype.Type{dtype.Int32, dtype.Int32},
		}},
		Variants: []device.Variant{{Target: device.Capability{Major: 7}, PTX: printPTX}},
	}
}

const printPTX = `.version 6.0
.target sm_70
.address_size 64
.visible .entry print(.param .align 8 .b8 print_params[16])
{
	.reg .pred %p<2>;
	.reg .b32 %r<16>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [print_params];
	atom.global.add.u32 %r1, [%rd1+28], 56;
	add.u32 %r2, %r1, 56;
	ld.global.u32 %r3, [%rd1+24];
	setp.gt.u32 %p1, %r2, %r3;
	@%p1 bra LOST;
	ld.global.u64 %rd2, [%rd1+16];
	cvt.u64.u32 %rd3, %r1;
	add.s64 %rd4, %rd2, %rd3;
	ld.param.u32 %r4, [print_params+8];
	ld.param.u32 %r5, [print_params+12];
	st.global.u32 [%rd4+4], %r4;
	st.global.u32 [%rd4+8], %r5;
	mov.u32 %r6, 0;
	st.global.u32 [%rd4+12], %r6;
	mov.u32 %r7, %ctaid.x;
	mov.u32 %r8, %ctaid.y;
	mov.u32 %r9, %ctaid.z;
	st.global.u32 [%rd4+16], %r7;
	st.global.u32 [%rd4+20], %r8;
	st.global.u32 [%rd4+24], %r9;
	mov.u32 %r10, %tid.x;
	mov.u32 %r11, %tid.y;
	mov.u32 %r12, %tid.z;
	st.global.u32 [%rd4+28], %r10;
	st.global.u32 [%rd4+32], %r11;
	st.global.u32 [%rd4+36], %r12;
	cvt.s64.s32 %rd5, %r10;
	cvt.s64.s32 %rd6, %r7;
	st.global.u64 [%rd4+40], %rd5;
	st.global.u64 [%rd4+48], %rd6;
	mov.u32 %r13, 56;
	st.global.u32 [%rd4], %r13;
	bra DONE;
LOST:
	atom.global.add.u32 %r14, [%rd1+32], 1;
DONE:
	ret;
}
`

func TestKernelsAssemble(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("no ptxas in PATH to judge the PTX")
	}
	for _, k := range []*device.Kernel{multiplyKernel(), faultKernel(), printKernel()} {
		file := filepath.Join(t.TempDir(), k.Name+".ptx")
		if err := os.WriteFile(file, []byte(k.Variants[0].PTX), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(ptxas, "-arch=sm_90", "-o", os.DevNull, file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", k.Name, err, out)
		}
	}
}
