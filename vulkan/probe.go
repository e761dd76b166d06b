package vulkan

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxspirv"
)

// roundingProbe is a kernel that stores x*x+y, which depends on how often it is rounded, and z+0 for -0, which is 0.
const roundingProbe = `
.version 6.4
.target sm_75
.address_size 64
.visible .entry probe(.param .align 8 .b8 probe_params[24])
{
	.reg .b64 %rd<2>;
	.reg .f32 %f<6>;
	ld.param.u64 %rd1, [probe_params];
	ld.param.f32 %f1, [probe_params+8];
	ld.param.f32 %f2, [probe_params+12];
	ld.param.f32 %f3, [probe_params+16];
	fma.rn.f32 %f4, %f1, %f1, %f2;
	add.rn.f32 %f5, %f3, 0f00000000;
	st.global.v2.f32 [%rd1], {%f4, %f5};
	ret;
}
`

// loopProbe is a kernel that stores the first element of a table that is not less than a limit.
const loopProbe = `
.version 6.4
.target sm_75
.address_size 64
.visible .entry probe(.param .align 8 .b8 probe_params[24])
{
	.reg .b64 %rd<4>;
	.reg .b32 %r<4>;
	.reg .pred %p<3>;
	ld.param.u64 %rd1, [probe_params];
	ld.param.u32 %r1, [probe_params+8];
	mov.u32 %r2, 0;
$LOOP:
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd2, %rd1, %rd2;
	ld.global.u32 %r3, [%rd2+8];
	cvt.u64.u32 %rd3, %r3;
	setp.lt.u32 %p1, %r3, %r1;
	@!%p1 bra $FOUND;
	add.s32 %r2, %r2, 1;
	setp.lt.u32 %p2, %r2, %r1;
	@%p2 bra $LOOP;
	bra $END;
$FOUND:
	st.global.u64 [%rd1], %rd3;
$END:
	ret;
}
`

// examine runs the probes and records what the device's compiler and its arithmetic do.
func (b *backend) examine() error {
	b.arithmetic.Fused = true             // so that the probe uses Fma
	x := math.Float32frombits(0x3f800001) // the square of 1 + 1/2^23 needs 47 bits
	y := -x * x
	var values []byte
	for _, v := range []float32{x, y, float32(math.Copysign(0, -1))} {
		values = binary.LittleEndian.AppendUint32(values, math.Float32bits(v))
	}
	out, err := b.probe(roundingProbe, values, make([]byte, 8))
	if err != nil {
		return err
	}
	fused := math.Float32frombits(binary.LittleEndian.Uint32(out))
	b.arithmetic.Fused = fused == float32(math.FMA(float64(x), float64(x), float64(y)))
	b.arithmetic.FoldsZeros = out[7]>>7 != 0

	table := make([]byte, 8+4*16)
	binary.LittleEndian.PutUint32(table[8:], 18)
	if out, err = b.probe(loopProbe, binary.LittleEndian.AppendUint32(nil, 9), table); err != nil {
		return err
	}
	b.arithmetic.LosesValues = binary.LittleEndian.Uint64(out) != 18
	return nil
}

// probe runs a kernel with one thread. Its parameters are the address of a copy of memory, and further bytes. It returns the copy.
func (b *backend) probe(text string, params, memory []byte) ([]byte, error) {
	m, err := ptx.Parse(text)
	if err != nil {
		return nil, err
	}
	p, err := ptxspirv.Translate(m, "probe", ptxspirv.Options{Block: [3]int{1, 1, 1}, Lacks: b.lacks, Arithmetic: b.arithmetic})
	if err != nil {
		return nil, err
	}
	out, err := b.once(p, params, memory)
	if err != nil {
		return nil, fmt.Errorf("vulkan: %s: a first kernel: %w", b.information.Name, err)
	}
	return out, nil
}

// once runs a program as probe describes.
func (b *backend) once(p *ptxspirv.Program, params, memory []byte) ([]byte, error) {
	q, err := b.newQueue()
	if err != nil {
		return nil, err
	}
	defer q.Close()
	l := &loaded{}
	if err := b.compile(l, p); err != nil {
		return nil, err
	}
	err = q.work(func() error {
		const block = 64 // bytes for the parameters
		s, err := q.stage.take(block + len(memory))
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(s.host, s.address+block)
		copy(s.host[8:block], params)
		copy(s.host[block:], memory)
		q.dispatch(l, binary.LittleEndian.AppendUint64(nil, s.address), [3]int{1, 1, 1})
		q.finish()
		copy(memory, s.host[block:])
		return q.failed
	})
	return memory, err
}
