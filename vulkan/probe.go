package vulkan

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxspirv"
)

// probe is a kernel that stores 1.5*x+y, which depends on how often it is rounded, and z+0 for -0, which is 0.
const probe = `
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

// examine runs the probe and records what the device's arithmetic does.
func (b *backend) examine() error {
	b.arithmetic.Fused = true // so that the probe uses Fma
	m, err := ptx.Parse(probe)
	if err != nil {
		return err
	}
	p, err := ptxspirv.Translate(m, "probe", ptxspirv.Options{Block: [3]int{1, 1, 1}, Arithmetic: b.arithmetic})
	if err != nil {
		return err
	}
	x := math.Float32frombits(0x3f800001) // the square of 1 + 1/2^23 needs 47 bits
	y := -x * x
	out, err := b.once(p, []float32{x, y, float32(math.Copysign(0, -1))})
	if err != nil {
		return fmt.Errorf("vulkan: %s: a first kernel: %w", b.information.Name, err)
	}
	b.arithmetic.Fused = out[0] == float32(math.FMA(float64(x), float64(x), float64(y)))
	b.arithmetic.FoldsZeros = math.Signbit(float64(out[1]))
	return nil
}

// once runs a program in one thread. Its parameters are the address of its results, two numbers, and the given numbers.
func (b *backend) once(p *ptxspirv.Program, values []float32) ([2]float32, error) {
	var out [2]float32
	q, err := b.newQueue()
	if err != nil {
		return out, err
	}
	defer q.Close()
	l := &loaded{}
	if err := b.compile(l, p); err != nil {
		return out, err
	}
	err = q.work(func() error {
		s, err := q.stage.take(64)
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(s.host, s.address+32)
		for i, v := range values {
			binary.LittleEndian.PutUint32(s.host[8+4*i:], math.Float32bits(v))
		}
		q.dispatch(l, binary.LittleEndian.AppendUint64(nil, s.address), [3]int{1, 1, 1})
		q.finish()
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(s.host[32+4*i:]))
		}
		return q.failed
	})
	return out, err
}
