package suite

import "github.com/gopherwarp/gopherwarp/gpu"

// around returns the four elements of group i of the rows in a, and their neighbours on both sides;
// one beside the row, which begins with group 0 of groups and of which this is group x, is 0.
func around(a [][4]float32, i, x, groups int) (row [6]float32) {
	if x > 0 {
		row[0] = a[i-1][3]
	}
	middle := a[i]
	row[1], row[2], row[3], row[4] = middle[0], middle[1], middle[2], middle[3]
	if x < groups-1 {
		row[5] = a[i+1][0]
	}
	return row
}

// stencil7Best is stencil7 of four points of a row at once: n is a multiple of four.
//
//gpu:kernel
//gpu:block 32,4,2
func stencil7Best(t gpu.Thread, a, b [][4]float32, n int, w weights) {
	x, y, z, groups := t.GlobalX(), t.GlobalY(), t.GlobalZ(), n/4
	if x >= groups || y >= n || z >= n {
		return
	}
	i := (z*n+y)*groups + x
	row := around(a, i, x, groups)
	r := [4]float32{row[1], row[2], row[3], row[4]}
	if y > 0 && z > 0 && y < n-1 && z < n-1 {
		front, up, down, back := a[i-n*groups], a[i-groups], a[i+groups], a[i+n*groups]
		var sum [4]float32
		for k := range sum {
			sum[k] = w.centre*row[k+1] + w.face*(row[k]+row[k+2]+up[k]+down[k]+front[k]+back[k])
		}
		r[1], r[2] = sum[1], sum[2]
		if x > 0 {
			r[0] = sum[0]
		}
		if x < groups-1 {
			r[3] = sum[3]
		}
	}
	b[i] = r
}

// stencil27Best is stencil27 of four points of a row at once: n is a multiple of four.
//
//gpu:kernel
//gpu:block 32,4,2
func stencil27Best(t gpu.Thread, a, b [][4]float32, n int, w weights) {
	x, y, z, groups := t.GlobalX(), t.GlobalY(), t.GlobalZ(), n/4
	if x >= groups || y >= n || z >= n {
		return
	}
	i := (z*n+y)*groups + x
	r := a[i]
	if y > 0 && z > 0 && y < n-1 && z < n-1 {
		var sum [4]float32
		for dz := -1; dz <= 1; dz++ {
			for dy := -1; dy <= 1; dy++ {
				row := around(a, i+(dz*n+dy)*groups, x, groups)
				for dx := -1; dx <= 1; dx++ {
					for k := range sum {
						sum[k] += weight(w, dx*dx+dy*dy+dz*dz) * row[1+k+dx]
					}
				}
			}
		}
		r[1], r[2] = sum[1], sum[2]
		if x > 0 {
			r[0] = sum[0]
		}
		if x < groups-1 {
			r[3] = sum[3]
		}
	}
	b[i] = r
}
