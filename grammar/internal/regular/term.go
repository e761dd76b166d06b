package regular

// kind is the operation of a term.
type kind uint8

const (
	none     kind = iota // no text
	empty                // the empty text
	set                  // one byte of a set
	concat               // a, then b
	alt                  // one of list
	and                  // all of list
	not                  // not a
	repeat               // least to most times a
	multiple             // decimals that are multiples of a number
)

// Unbounded is the upper bound of a repetition that has none.
const Unbounded = 1<<31 - 1

// A Term is a regular language. Terms of one Store are equal if they are identical.
type Term struct {
	id       uint64
	kind     kind
	nullable bool
	pure     bool // has no intersection and no complement: it is empty only if it is the term of no text
	live     liveness
	set      *byteSet
	a, b     *Term
	list     []*Term
	least    int32
	most     int32
	decimal  decimal
}

// ID returns a number that no other term of the store has.
func (t *Term) ID() uint64 { return t.id }

// Nullable reports whether the language has the empty text.
func (t *Term) Nullable() bool { return t.nullable }

// IsNone reports whether the term is that of the empty language.
func (t *Term) IsNone() bool { return t.kind == none }

// IsEmpty reports whether the term is that of the empty text alone.
func (t *Term) IsEmpty() bool { return t.kind == empty }

// byteSet is a set of bytes.
type byteSet [4]uint64

func (b *byteSet) has(c byte) bool { return b[c>>6]>>(c&63)&1 != 0 }

func (b *byteSet) add(c byte) { b[c>>6] |= 1 << (c & 63) }

// decimal is the state of the division of a decimal number by an integer.
type decimal struct {
	modulus   int64
	remainder int64
	scale     int8 // digits after the point that count; what follows them must be zeros
	fraction  bool // after the point
}

// key identifies a term by its operands.
type key struct {
	kind        kind
	a, b        uint64
	least, most int32
	set         byteSet
	decimal     decimal
	list        string
}
