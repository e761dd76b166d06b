package suite

import "github.com/gopherwarp/gopherwarp/gpu"

// around returns the four elements of group i of a, with their neighbours: the last one of the group
// that many to the left, the first one of that many to the right. Both are 1, or 0 beside the row.
func around(a [][4]float32, i, left, right int) (row [6]float32) {
	row[0], row[5] = a[i-left][3], a[i+right][0]
	middle := a[i]
	row[1], row[2], row[3], row[4] = middle[0], middle[1], middle[2], middle[3]
	return row
}

// beside returns how many groups there are on the left and the right of group x of a row, but no
// more than 1.
func beside(x, groups int) (left, right int) {
	if x > 0 {
		left = 1
	}
	if x < groups-1 {
		right = 1
	}
	return left, right
}

// stencil7Best is like stencil7, four points of a row at a time. n is a multiple of four.
//
//gpu:kernel
//gpu:block 32,4,2
func stencil7Best(t gpu.Thread, a, b [][4]float32, n int, w weights) {
	x, y, z, groups := t.GlobalX(), t.GlobalY(), t.GlobalZ(), n/4
	if x >= groups || y >= n || z >= n {
		return
	}
	i := (z*n+y)*groups + x
	r := a[i]
	if y > 0 && z > 0 && y < n-1 && z < n-1 {
		left, right := beside(x, groups)
		row := around(a, i, left, right)
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

// stencil27Best is like stencil27, four points of a row at a time. n is a multiple of four.
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
		left, right := beside(x, groups)
		var sum [4]float32
		for dz := -1; dz <= 1; dz++ {
			for dy := -1; dy <= 1; dy++ {
				row := around(a, i+(dz*n+dy)*groups, left, right)
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
