package attentionback

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/math32"
)

// softmax is the state of a thread's two queries: the greatest score as an exponent of 2, and the thread's part of the sum of the exponentials
// relative to it.
type softmax struct{ top, sum [2]float32 }

// groupedForward computes the results of up to blockRows queries of a head in each block. Tiles of keys and values pass, as in groupedQueries.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 384
//gpu:instance groupedForward64 = groupedForward[[1][32]float32]
//gpu:instance groupedForward128 = groupedForward[[2][32]float32]
func groupedForward[A [1][32]float32 | [2][32]float32](t gpu.Thread, q gpu.TensorMap[panel], k, v gpu.TensorMap[tall], spans []prefill.Span, o [][8]dtype.BF16, states []prefill.State, l layout) {
	b := gpu.Shared[queriesMemory](t)
	at, head := l.blockOf(t.GridDimX()-1-t.BlockX(), t.GridDimX(), int(l.Heads))
	w := queriesView{section: section{layout: l}, q: q, do: q, k: k, v: v, head: head, owns: 1}
	w.part(spans, at, blockRows)
	if w.Count <= 0 {
		return
	}
	var sums A
	w.see(len(sums))
	if t.ThreadX() == 0 {
		b.init(t)
	}
	t.Sync()
	if t.WarpGroup() == 0 {
		t.GiveRegisters(40)
		if t.Warp() == 0 {
			w.produce(t, b)
		}
		return
	}
	t.TakeRegisters(232)
	state := attendKeys(t, b, &w, &sums)
	w.storeStates(t, states, &state)
	to := w.targetOf(t, w.head, int(l.Heads*l.Dim)/8)
	to.factor = 1
	for i := range len(sums) {
		to.to = o
		store(t, to, &sums[i], &b.own[0][(t.WarpGroup()-1)&1][i])
		to.at += panelWidth / 8
	}
}

// storeStates stores the states of a warp group's queries.
func (w *queriesView) storeStates(t gpu.Thread, states []prefill.State, x *softmax) {
	for h := range 2 {
		r := (t.WarpGroup()-1)*groupRows + t.Warp()%4*16 + t.Lane()/4 + h*8
		if at := (w.Row+r)*int(w.Heads) + w.head; t.Lane()%4 == 0 && r < w.Count && at < len(states) {
			states[at] = prefill.State{Top: x.top[h], Sum: x.sum[h]}
		}
	}
}

// attendKeys sets sums to the weighted means of values. The weights of a tile are multiplied by its values while the scores of the next one are
// computed.
func attendKeys[A [1][32]float32 | [2][32]float32](t gpu.Thread, b *queriesMemory, w *queriesView, sums *A) softmax {
	group := (t.WarpGroup() - 1) & 1
	tiles := (w.seen + blockRows - 1) / blockRows
	leads := t.ThreadX()%gpu.WarpGroupSize == 0
	x := softmax{top: [2]float32{-math.MaxFloat32, -math.MaxFloat32}}
	var s [64]float32
	b.ready.Wait(t, 0)
	b.full[0][0].Wait(t, 0)
	b.turns.await(t, 0)
	w.multiply(t, &s, &b.own[0][group], &b.near[0][0])
	b.turns.pass(t)
	gpu.AwaitProducts(t, &s, 0)
	if leads {
		b.empty[0][0].Arrive(t)
	}
	x.weigh(t, w, &s, 0)
	p := operands64(&s)
	for i := 1; i < tiles; i++ {
		stage, before := i%queryStages, (i-1)%queryStages
		b.full[0][stage].Wait(t, i/queryStages)
		b.full[1][before].Wait(t, (i-1)/queryStages)
		b.turns.await(t, i)
		w.multiply(t, &s, &b.own[0][group], &b.near[0][stage])
		addKeys(t, sums, &p, &b.near[1][before])
		b.turns.pass(t)
		gpu.AwaitProducts(t, &s, 1)
		if leads {
			b.empty[0][stage].Arrive(t)
		}
		factors := x.weigh(t, w, &s, i)
		for j := range len(*sums) {
			gpu.AwaitProducts(t, &(*sums)[j], 0)
		}
		if leads {
			b.empty[1][before].Arrive(t)
		}
		scaleRows(sums, factors)
		p = operands64(&s)
	}
	last := (tiles - 1) % queryStages
	b.full[1][last].Wait(t, (tiles-1)/queryStages)
	addKeys(t, sums, &p, &b.near[1][last])
	for j := range len(*sums) {
		gpu.AwaitProducts(t, &(*sums)[j], 0)
	}
	var inverse [2]float32
	for h := range inverse {
		x.sum[h] += gpu.ShuffleXor(t, x.sum[h], 1)
		x.sum[h] += gpu.ShuffleXor(t, x.sum[h], 2)
		inverse[h] = 1 / x.sum[h]
	}
	scaleRows(sums, inverse)
	return x
}

// weigh turns the scores of tile i into exponentials relative to the greatest score so far, and returns the factors of what was
// computed relative to the one before.
func (x *softmax) weigh(t gpu.Thread, w *queriesView, s *[64]float32, i int) (factors [2]float32) {
	if (i+1)*blockRows > w.clear {
		w.hideKeys(t, s, i*blockRows)
	}
	for h := range 2 {
		top := x.top[h]
		for j := range 32 {
			top = max(top, s[j/2*4+h*2+j%2]*w.Scale)
		}
		top = max(top, gpu.ShuffleXor(t, top, 1))
		top = max(top, gpu.ShuffleXor(t, top, 2))
		factors[h] = math32.FastExp2(x.top[h] - top)
		x.top[h], x.sum[h] = top, x.sum[h]*factors[h]
	}
	for j := range s {
		s[j] = math32.FastExp2(s[j]*w.Scale - x.top[j/2%2])
		x.sum[j/2%2] += s[j]
	}
	return factors
}

// scaleRows multiplies a thread's two rows.
func scaleRows[A [1][32]float32 | [2][32]float32](sums *A, factors [2]float32) {
	for i := range len(*sums) {
		for j := range 32 {
			(*sums)[i][j] *= factors[j/2%2]
		}
	}
}
