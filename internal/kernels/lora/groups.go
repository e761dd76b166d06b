package lora

// MaxGroups returns the largest number of groups of a number of rows.
func MaxGroups(rows, adapters int) int { return min(rows, rows/groupRows+adapters) }

// Groups returns n groups of the rows whose adapters are in which, negative for rows without one. n is at least MaxGroups of the rows.
// Surplus groups are empty.
func Groups(which []int32, n int) []Group {
	list, open := make([]Group, 0, n), map[int32]int{} // the group of each adapter, and the number of its rows
	filled := make([]int, 0, n)
	for at, adapter := range which {
		if adapter < 0 {
			continue
		}
		i, ok := open[adapter]
		if !ok || filled[i] == groupRows {
			i = len(list)
			open[adapter] = i
			list, filled = append(list, empty()), append(filled, 0)
			list[i].Adapter = adapter
		}
		list[i].Rows[filled[i]] = int32(at)
		filled[i]++
	}
	for len(list) < n {
		list = append(list, empty())
	}
	return list
}

// empty returns a group without rows.
func empty() Group {
	g := Group{Adapter: -1}
	for i := range g.Rows {
		g.Rows[i] = -1
	}
	return g
}
