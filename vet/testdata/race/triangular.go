package race

import "github.com/gopherwarp/gopherwarp/gpu"

// Thread x writes s[x][i] where x > i, and reads s[j][i] where j < i: no thread writes that.
//
//gpu:kernel
//gpu:block 16
func columns(t gpu.Thread, m []float32) {
	s := gpu.Shared[[16][16]float32](t)
	x := t.ThreadX()
	for i := range 16 {
		s[i][x] = m[16*i+x]
	}
	t.Sync()
	for i := 0; i < 15; i++ {
		if x > i {
			for j := 0; j < i; j++ {
				s[x][i] -= s[x][j] * s[j][i]
			}
		}
		t.Sync()
	}
	for i := range 16 {
		m[16*i+x] = s[i][x]
	}
}

// Thread x writes s[i+1][x] where x > i, and reads s[i+1][j] where j <= i: no thread writes that.
//
//gpu:kernel
//gpu:block 16
func rows(t gpu.Thread, m []float32) {
	s := gpu.Shared[[16][16]float32](t)
	x := t.ThreadX()
	for i := range 16 {
		s[i][x] = m[16*i+x]
	}
	t.Sync()
	for i := 0; i < 15; i++ {
		if x > i {
			for j := 0; j < i+1; j++ {
				s[i+1][x] -= s[i+1][j] * s[j][x]
			}
		}
		t.Sync()
	}
	for i := range 16 {
		m[16*i+x] = s[i][x]
	}
}

// As columns, with the comparison in the loop.
//
//gpu:kernel
//gpu:block 16
func columnsOfAll(t gpu.Thread, m []float32) {
	s := gpu.Shared[[16][16]float32](t)
	x := t.ThreadX()
	for i := range 16 {
		s[i][x] = m[16*i+x]
	}
	t.Sync()
	for i := 0; i < 15; i++ {
		for j := 0; j < i; j++ {
			if x > i {
				s[x][i] -= s[x][j] * s[j][i]
			}
		}
		t.Sync()
	}
	for i := range 16 {
		m[16*i+x] = s[i][x]
	}
}

// As columns, but thread j writes what the others read.
//
//gpu:kernel
//gpu:block 16
func columnsBelow(t gpu.Thread, m []float32) {
	s := gpu.Shared[[16][16]float32](t)
	x := t.ThreadX()
	for i := range 16 {
		s[i][x] = m[16*i+x]
	}
	t.Sync()
	for i := 0; i < 15; i++ {
		for j := 0; j < i; j++ {
			if x < i {
				s[x][i] -= s[x][j] * s[j][i] // want `this overwrites shared memory`
			}
		}
		t.Sync()
	}
	for i := range 16 {
		m[16*i+x] = s[i][x]
	}
}
