package values

import "github.com/gopherwarp/gopherwarp/gpu"

// mixed has fields of all sizes and holes between them.
type mixed struct {
	Flag  bool
	Byte  uint8
	Short int16
	Word  uint32
	Tiny  int8
	Long  int64
	Half  bool
	Real  float32
	Wide  float64
	Last  uint8
}

// inner and outer are structs in structs.
type inner struct {
	A int8
	B [3]int16
}

type outer struct {
	Head  uint8
	One   inner
	Many  [2]inner
	Tail  int32
	Empty struct{}
}

// based embeds a struct.
type based struct {
	inner
	Extra int32
}

func (i inner) total() int64   { return int64(i.A) + int64(i.B[0]) + int64(i.B[1]) + int64(i.B[2]) }
func (i *inner) grow(by int16) { i.B[1] += by; i.A++ }

// structured has a behaviour of structs a field.
type structured struct {
	Zero, Literal, PartialLiteral, Nested, NestedLiteral, FieldAssign, Copied    int64
	CopyIsIndependent, Compared, ComparedNested, ComparedEmpty, AsArgument       int64
	AsResult, MethodValue, MethodPointer, MethodOnElement, Embedded, Promoted    int64
	PromotedMethod, ArrayOfStructs, StructOfArrays, DynamicElement, SwapStructs  int64
	Anonymous, BooleanFields, NarrowFields, Overwritten, PhiOfStructs, InLoop    int64
	PointerToField, PointerToStruct, PointerSwap, Chained, Shadow, EmptyStruct   int64
	ReturnedField, ManyResults, ResultsAsArguments, UnusedResults, Recombined    int64
	Initialised, ConditionalField, NegatedField, ArrayField, Accumulated, Tagged int64
}

func structAll(n int64) (r structured) {
	structForms(n, &r)
	structMethods(n, &r)
	structPointers(n, &r)
	structResults(n, &r)
	return r
}

//gpu:kernel
func structs(t gpu.Thread, n []int64, out []structured) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = structAll(n[i])
	}
}

func structForms(n int64, r *structured) {
	var zero mixed
	r.Zero = int64(zero.Word) + zero.Long + int64(zero.Last)
	m := mixed{true, 1, 2, 3, 4, n, false, 1.5, 2.5, 9}
	r.Literal = int64(m.Byte) + int64(m.Short)*10 + int64(m.Word)*100 + m.Long*1000 + int64(m.Real*2) + int64(m.Wide*4)
	p := mixed{Long: n, Byte: uint8(n)}
	r.PartialLiteral = p.Long*3 + int64(p.Byte) + int64(p.Word)
	var o outer
	o.One.B[1] = int16(n)
	o.Many[1].B[2] = 7
	o.Many[n&1].A += 3
	r.Nested = int64(o.One.B[1]) + int64(o.Many[1].B[2])*10 + int64(o.Many[0].A)*100 + int64(o.Many[1].A)*1000
	q := outer{One: inner{A: int8(n), B: [3]int16{1, 2, 3}}, Many: [2]inner{{A: 5}, {B: [3]int16{2: int16(n)}}}}
	r.NestedLiteral = int64(q.One.A) + int64(q.One.B[2])*10 + int64(q.Many[0].A)*100 + int64(q.Many[1].B[2])*1000
	q.Tail = int32(n)
	q.Tail -= 5
	q.Head++
	r.FieldAssign = int64(q.Tail) + int64(q.Head)
	s := q
	s.Tail, s.Many[0].A = 99, 77
	r.Copied, r.CopyIsIndependent = int64(s.Tail)+int64(s.One.A), int64(q.Tail)+int64(q.Many[0].A)
	if m == (mixed{true, 1, 2, 3, 4, 5, false, 1.5, 2.5, 9}) {
		r.Compared = 1
	}
	if q != s && q.One == s.One && q.Many != s.Many {
		r.ComparedNested = 1
	}
	if q.Empty == s.Empty {
		r.ComparedEmpty = 1
	}
	point := struct{ X, Y int64 }{n, n + 1}
	point.X, point.Y = point.Y, point.X
	r.Anonymous = point.X*10 + point.Y
	m.Flag, m.Half = !m.Flag, n > 3
	if m.Flag != m.Half {
		r.BooleanFields = 1
	}
	m.Tiny += int8(n * 50)
	m.Short -= int16(n * 30000)
	m.Byte *= 77
	r.NarrowFields = int64(m.Tiny) + int64(m.Short)*3 + int64(m.Byte)*5
	m = mixed{Word: 5}
	r.Overwritten = int64(m.Word) + m.Long + int64(m.Byte)
}

func structMethods(n int64, r *structured) {
	i := inner{int8(n), [3]int16{int16(n), 2, 3}}
	r.AsArgument, r.MethodValue = sumOf(i), i.total()
	i.grow(5)
	r.MethodPointer = i.total()
	many := [3]inner{i, {A: 1}, {A: 2}}
	many[n&1].grow(100)
	many[2].grow(10)
	r.MethodOnElement = many[0].total() + many[1].total()*3 + many[2].total()*5
	b := based{i, int32(n)}
	b.A += 3
	b.grow(1)
	r.Embedded, r.Promoted, r.PromotedMethod = int64(b.inner.A), int64(b.B[1]), b.total()
	for k := range many {
		r.ArrayOfStructs += int64(many[k].A) * int64(k+1)
	}
	var columns struct {
		X [4]int32
		Y [4]float32
	}
	for k := range 4 {
		columns.X[k] = int32(k) * int32(n)
		columns.Y[k] = float32(columns.X[k]) / 2
	}
	r.StructOfArrays = int64(columns.X[3]) + int64(columns.Y[2])
	r.DynamicElement = int64(many[n%3].B[(n+1)%3])
	many[0], many[2] = many[2], many[0]
	r.SwapStructs = int64(many[0].A) - int64(many[2].A)
	x, y := inner{A: 1}, inner{A: 2, B: [3]int16{5, 6, 7}}
	if n > 3 {
		x = y
	}
	r.PhiOfStructs = x.total()
	for k := range n {
		x, y = y, x
		x.B[k%3]++
		y = inner{A: y.A + 1, B: x.B}
	}
	r.InLoop = x.total()*100 + y.total()
}

func sumOf(i inner) int64 { i.A += 10; return i.total() }

func structPointers(n int64, r *structured) {
	o := outer{Tail: 5}
	p := &o.Tail
	*p += int32(n)
	r.PointerToField = int64(o.Tail)
	q := &o.Many[n&1]
	q.A, q.B[2] = 4, 6
	q.grow(3)
	r.PointerToStruct = o.Many[0].total() + 10*o.Many[1].total()
	a, b := &o.Many[0], &o.Many[1]
	*a, *b = *b, *a
	r.PointerSwap = o.Many[0].total() + 10*o.Many[1].total()
	pp := &q
	(*pp).A++
	(**pp).B[0] = 9
	r.Chained = q.total()
	if q := &o.One; n > 2 {
		q.A = 50
	}
	r.Shadow = int64(o.One.A) + int64(q.A)
	var e struct{}
	several := [5]struct{}{}
	several[n%5] = e
	r.EmptyStruct = int64(len(several))
	fields := mixed{Word: uint32(n)}
	setAll(&fields, n)
	r.ConditionalField, r.NegatedField = fields.Long, int64(fields.Tiny)
	table := outer{Many: [2]inner{{B: [3]int16{1, 2, 3}}, {B: [3]int16{4, 5, 6}}}}
	rows := table.Many
	rows[0].B[0] = 50
	r.ArrayField = table.Many[0].total() + rows[0].total()*100
	for _, row := range rows {
		for _, x := range row.B {
			r.Accumulated = r.Accumulated*3 + int64(x)
		}
	}
}

func setAll(m *mixed, n int64) {
	if m.Word > 3 {
		m.Long = n
	} else {
		m.Long = -n
	}
	m.Tiny = -m.Tiny - int8(m.Long)
}

// option is a number that may be missing.
type option struct {
	value int64
	ok    bool
}

func find(n int64) option {
	if n%3 == 0 {
		return option{}
	}
	return option{n * 2, true}
}

func three(n int64) (a int8, b float64, c option) { return int8(n), float64(n) / 2, find(n) }

func combine(a int8, b float64, c option) int64 { return int64(a) + int64(b*4)*10 + c.value*100 }

func structResults(n int64, r *structured) {
	if o := find(n); o.ok {
		r.AsResult = o.value
	}
	r.ReturnedField = find(n + 1).value
	a, b, c := three(n)
	r.ManyResults = int64(a) + int64(b*2) + c.value
	r.ResultsAsArguments = combine(three(n))
	_, b, _ = three(n + 1)
	r.UnusedResults = int64(b * 2)
	r.Recombined = combine(a, b, option{value: int64(a)})
	points := [...]struct{ X, Y int64 }{{1, n}, {Y: 3}, {X: n}}
	r.Initialised = points[0].Y + points[1].Y*10 + points[2].X*100
	type local struct {
		kind  int8
		value float32
	}
	tagged := [2]local{{1, 2.5}, {kind: 2}}
	for _, l := range tagged {
		switch l.kind {
		case 1:
			r.Tagged += int64(l.value * 2)
		case 2:
			r.Tagged += 100
		}
	}
}
