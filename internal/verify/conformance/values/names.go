package values

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// Tables of strings.
var (
	weekdays = [...]string{"Monday", "Tuesday", "Wednesday", "", "Friday", "Samstag", "日曜日"}
	colors   = []string{"red", "green", "blue"}
	planets  = []planet{{"Mercury", 0.39, [2]string{"iron", "rock"}}, {Name: "Neptune", Distance: math.Cbrt(27)}, {"Mars", 1.52, [2]string{1: "dust"}}}
	numerals = romanNumerals(20)
)

type planet struct {
	Name     string
	Distance float64
	Made     [2]string
}

func romanNumerals(n int) (all []string) {
	for i := range n {
		text := ""
		for i >= 10 {
			text, i = text+"X", i-10
		}
		all = append(all, text+[10]string{"", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"}[i])
	}
	return all
}

// named is what a kernel finds out about strings of tables.
type named struct {
	Bytes, Lengths, Equal, Substring, Struct, Field, Array, Ranged, Found, Computed int64
}

// describe reads the tables at an index.
func describe(i int, name []byte) (r named) {
	day := weekdays[i%len(weekdays)]
	for k := range len(day) {
		r.Bytes = r.Bytes*31 + int64(day[k])
	}
	r.Lengths = int64(len(day)*100 + len(colors[i%3]) + len(colors)*10000)
	if colors[i%len(colors)] == "green" || day == weekdays[2] {
		r.Equal = 1
	}
	if len(day) > 3 {
		r.Substring = sumOfBytes(day[2:]) - sumOfBytes(day[:len(day)-1])
	}
	p := planets[i%len(planets)]
	r.Struct = sumOfBytes(p.Name) + int64(p.Distance*10) + sumOfBytes(p.Made[i&1])
	r.Field = int64(len(planets[(i+1)%len(planets)].Made[1])) + int64(planets[1].Name[3])
	for k, d := range weekdays {
		r.Array += int64(k+1) * int64(len(d))
	}
	for k, c := range colors {
		r.Ranged += int64(k+1) * int64(c[1])
	}
	r.Found = -1
	for k := range planets {
		if equalTo(planets[k].Name, name) {
			r.Found = int64(k)
		}
	}
	r.Computed = sumOfBytes(numerals[i%len(numerals)])
	return r
}

func sumOfBytes(s string) (sum int64) {
	for i := range len(s) {
		sum += int64(s[i]) * int64(i+1)
	}
	return sum
}

func equalTo(s string, b []byte) bool {
	if len(s) != len(b) {
		return false
	}
	for i := range b {
		if s[i] != b[i] {
			return false
		}
	}
	return true
}

// letters is a slice of bytes with a name.
type letters []byte

//gpu:kernel
func describeAll(t gpu.Thread, name letters, out []named) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = describe(i, name)
	}
}

func describes(r *check.Run) {
	const n = 70
	name := []byte("Mars")
	out := check.Make[named](r, n)
	r.Launch(DescribeAll(r.Stream, device.Cover(n, 32), check.Upload(r, name...), out))
	for i, got := range check.Get(r, out) {
		check.Compare(r, "element", got, describe(i, name))
	}
}
