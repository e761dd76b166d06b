package selftest

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// particle has fields of all sizes and holes between them.
type particle struct {
	alive    bool
	position [3]float64
	kind     uint16
	charge   int8
	mass     float32
}

// world is a parameter by value.
type world struct {
	small   int8
	gravity [2][3]float64
	scale   float32
}

// step returns the particle after a moment.
func step(p particle, w world) particle {
	for axis := range p.position {
		p.position[axis] += w.gravity[1][axis]
	}
	p.alive = !p.alive
	p.kind += 3
	p.charge -= w.small
	p.mass *= w.scale
	return p
}

//gpu:kernel
func move(t gpu.Thread, first bool, w world, particles []particle, last uint8) {
	if i := t.GlobalX(); i < len(particles) && first && last == 9 {
		particles[i] = step(particles[i], w)
	}
}

func checkStructs(s *session) error {
	w := world{small: -5, gravity: [2][3]float64{{9, 9, 9}, {1, 2, 3}}, scale: 0.5}
	particles, want := make([]particle, 100), make([]particle, 100)
	for i := range particles {
		f := float64(i)
		particles[i] = particle{i%2 == 0, [3]float64{f, f / 3, -f}, uint16(i * 700), int8(i), float32(f) / 7}
		want[i] = step(particles[i], w)
	}
	d, err := upload(s, particles)
	if err != nil {
		return err
	}
	if err := Move(s.stream, device.Cover(len(particles), 32), true, w, d, 9); err != nil {
		return err
	}
	return expect(s, d, want)
}
