package words

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

type metres float32

//gpu:kernel
func integers(t gpu.Thread, n int64, b uint8) {
	gpu.Printf(t, "%d|%5d|%-5d|%05d|%+d\n", n, n, n, n, n)
	gpu.Printf(t, "%x|%X|%#x|%o|%b|%c|%q|%U\n", n, n, n, n, b, rune(n+65), rune(n+65), rune(n))
	gpu.Printf(t, "%d %d %d %d\n", int8(n*100), int16(n), uint32(n-100), uint64(n-100))
	gpu.Printf(t, "%v %v %v\n", n, b, uint(n))
}

//gpu:kernel
func floats(t gpu.Thread, x float64, y float32) {
	gpu.Printf(t, "%v %v|%f|%.2f|%8.3f|%-9.1f|%e|%g|%G\n", x, y, x, x, x, x, y, x, y)
	gpu.Printf(t, "%v %v %v %v %v\n", x/0, -x/0, x-x, math.Inf(1), float32(math.NaN()))
	gpu.Printf(t, "%6.2f|%+.1e|%x\n", y, x, x)
	gpu.Printf(t, "%v %.1f\n", metres(y), metres(y))
}

//gpu:kernel
func texts(t gpu.Thread, b bool, n int32) {
	gpu.Printf(t, "%v %t %v\n", b, !b, n > 3)
	gpu.Printf(t, "%s|%10s|%-6s|%q|%v\n", "go", "right", "left", "quoted", "plain")
	gpu.Printf(t, "100%% of %d, ü→✓\n", n)
	gpu.Printf(t, "no newline,")
	gpu.Printf(t, "")
	gpu.Printf(t, " %d %v %.1f %s\n", 42, true, 2.25, "constant")
	gpu.Printf(t, "%d%d%d%d%d%d%d%d%d%d%d\n", n, n, n, n, n, n, n, n, n, n, n)
}

// ordered prints from loops and branches of many threads.
//
//gpu:kernel
func ordered(t gpu.Thread) {
	for i := range t.ThreadX() {
		gpu.Printf(t, "%d.%d.%d ", t.BlockX(), t.ThreadX(), i)
	}
	if t.ThreadX() == 2 {
		label(t)
	}
}

func label(t gpu.Thread) { gpu.Printf(t, "block %d ends\n", t.BlockX()) }

//gpu:kernel
func around(t gpu.Thread) {
	gpu.Printf(t, "a%d,%d,%d ", t.ThreadX(), t.ThreadY(), t.ThreadZ())
	t.Sync()
	gpu.Printf(t, "b%d ", t.ThreadX())
}

type level uint8

func (level) String() string { return "unused" }

// builtins prints by Go's own functions.
//
//gpu:kernel
func builtins(t gpu.Thread, n int64, x float64, y float32, b bool) {
	println("n", n, uint8(n), int8(-n), uint64(-n), uintptr(n), b, !b)
	println(x, y, x*1e20, -x/0, x/0-x/0, x*1e-9, y*1e6, 1.5, float32(0.1), 1<<40, 'a', "100%")
	print(n, level(n), "|", dtype.F16(n), x)
	println()
	if t.ThreadX() == 1 {
		print("last\n")
	}
}

func printCases() []check.Case {
	return []check.Case{
		{Name: "print integers", Run: func(r *check.Run) {
			r.Launch(Integers(r.Stream, check.Threads(1), 7, 200))
			r.Printed("7|    7|7    |00007|+7\n7|7|0x7|7|11001000|H|'H'|U+0007\n-68 7 4294967203 18446744073709551523\n7 200 7\n")
		}},
		{Name: "print floats", Run: func(r *check.Run) {
			r.Launch(Floats(r.Stream, check.Threads(1), 2.5, -0.1))
			r.Printed("2.5 -0.1|2.500000|2.50|   2.500|2.5      |-1.000000e-01|2.5|-0.1\n+Inf -Inf 0 +Inf NaN\n -0.10|+2.5e+00|0x1.4p+01\n-0.1 -0.1\n")
		}},
		{Name: "print booleans and texts", Run: func(r *check.Run) {
			r.Launch(Texts(r.Stream, check.Threads(1), true, 9))
			r.Printed("true false true\ngo|     right|left  |\"quoted\"|plain\n100% of 9, ü→✓\nno newline, 42 true 2.2 constant\n99999999999\n")
		}},
		{Name: "print and println", Run: func(r *check.Run) {
			if r.Device.Info().Kind == "cpu" {
				r.Skip("plain Go prints to the standard error")
				return
			}
			r.Launch(Builtins(r.Stream, check.Threads(2), 7, 2.5, -0.1, true))
			text := "n 7 7 -7 18446744073709551609 7 true false\n" +
				"2.5 -0.1 2.5e+20 -Inf NaN 2.5e-09 -100000 1.5 0.1 1099511627776 97 100%\n77|72.5\n"
			r.Printed(text + text + "last\n")
		}},
		{Name: "print in the order of blocks and threads", Run: func(r *check.Run) {
			r.Launch(Ordered(r.Stream, check.Blocks(2, 3)))
			r.Printed("0.1.0 0.2.0 0.2.1 block 0 ends\n1.1.0 1.2.0 1.2.1 block 1 ends\n")
		}},
		{Name: "print in the order of launches", Run: func(r *check.Run) {
			r.Launch(Texts(r.Stream, check.Threads(1), false, 1))
			r.Launch(Ordered(r.Stream, check.Blocks(1, 2)))
			r.Launch(Around(r.Stream, check.Threads(2)))
			r.Printed("false true false\ngo|     right|left  |\"quoted\"|plain\n100% of 1, ü→✓\nno newline, 42 true 2.2 constant\n11111111111\n0.1.0 a0,0,0 b0 a1,0,0 b1 ")
			r.Launch(Ordered(r.Stream, check.Blocks(1, 2)))
			r.Printed("0.1.0 ")
		}},
	}
}
