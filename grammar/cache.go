package grammar

import (
	"container/list"
	"sync"
)

// A Cache keeps the grammars of frequently used schemas, including the masks computed for these grammars. It is safe for concurrent use,
// and its zero value is empty.
type Cache struct {
	mutex   sync.Mutex
	known   map[string]*list.Element
	entries list.List // of cacheEntry, the last used first
	size    int       // of the texts
}

// cacheEntry is a grammar with the text of its schema.
type cacheEntry struct {
	text    string
	grammar *Grammar
}

// Limits of a Cache.
const (
	maxGrammars = 32
	maxTexts    = 1 << 20 // bytes of all schemas; a longer one is not kept
)

// Schema is like the function Schema, but returns the grammar in the Cache if there is one.
func (c *Cache) Schema(text []byte) (*Grammar, error) {
	if g := c.find(string(text)); g != nil {
		return g, nil
	}
	g, err := Schema(text)
	if err == nil && len(text) <= maxTexts {
		c.keep(cacheEntry{string(text), g})
	}
	return g, err
}

// find returns a grammar that the cache has, or nil.
func (c *Cache) find(text string) *Grammar {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	e := c.known[text]
	if e == nil {
		return nil
	}
	c.entries.MoveToFront(e)
	return e.Value.(cacheEntry).grammar
}

// keep adds a grammar.
func (c *Cache) keep(x cacheEntry) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.known[x.text] != nil {
		return
	}
	if c.known == nil {
		c.known = map[string]*list.Element{}
	}
	c.known[x.text] = c.entries.PushFront(x)
	for c.size += len(x.text); c.entries.Len() > maxGrammars || c.size > maxTexts; {
		last := c.entries.Remove(c.entries.Back()).(cacheEntry)
		delete(c.known, last.text)
		c.size -= len(last.text)
	}
}
