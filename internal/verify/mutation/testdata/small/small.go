// Package small is what the rules are tested on.
package small

type list struct {
	items []int
	sum   int
}

func (l *list) add(x int, text string) bool {
	if x < 0 || text == "" {
		return false
	}
	l.items = append(l.items, x)
	l.sum += x << 2
	return true
}

func total(lists map[string]*list) (n int) {
	for name, l := range lists {
		if name > "m" {
			continue
		}
		n += l.items[1]
	}
	if n < 0 {
		panic("BUG: small: negative")
	}
	return max(n, len(lists))
}

var start = total(nil) * 8
