package schema

import (
	"net/url"
	"strconv"
	"strings"
)

// document finds the schemas that references name.
type document struct {
	root    *value
	ids     map[string]*value // by URI without fragment
	anchors map[string]*value // by URI with fragment
}

// index enters a document.
func (d *document) index(root *value) {
	d.root, d.ids, d.anchors = root, map[string]*value{"": root}, map[string]*value{}
	d.enter(root, "")
}

// enter enters a value and what it has.
func (d *document) enter(v *value, base string) {
	for _, name := range []string{"$id", "id"} {
		if id := v.field(name); id != nil && id.kind == '"' && id.text != "" {
			if u := join(base, id.text); u != nil {
				fragment := u.Fragment
				u.Fragment = ""
				if fragment != "" {
					d.anchors[base+"#"+fragment] = v
				} else {
					base = u.String()
					d.ids[base] = v
				}
			}
			break
		}
	}
	v.base = base
	for _, name := range []string{"$anchor", "$dynamicAnchor"} {
		if a := v.field(name); a != nil && a.kind == '"' {
			d.anchors[base+"#"+a.text] = v
		}
	}
	for _, x := range v.list {
		d.enter(x, base)
	}
	for _, name := range v.names {
		d.enter(v.fields[name], base)
	}
}

// join resolves a reference. It returns nil if it is not a URI.
func join(base, ref string) *url.URL {
	b, err := url.Parse(base)
	if err != nil {
		return nil
	}
	u, err := b.Parse(ref)
	if err != nil {
		return nil
	}
	return u
}

// resolve returns the schema that a reference in v names.
func (c *compiler) resolve(k, v *value) (*value, error) {
	if k.kind != '"' {
		return nil, wrong(k, "not a reference")
	}
	u := join(v.base, k.text)
	if u == nil {
		return nil, wrong(k, "not a URI")
	}
	fragment := u.Fragment
	u.Fragment = ""
	if x := c.anchors[u.String()+"#"+fragment]; x != nil && fragment != "" {
		return x, nil
	}
	for _, top := range []*value{c.ids[u.String()], c.local(k)} {
		if top == nil {
			continue
		}
		if x := top.find(fragment); x != nil {
			return x, nil
		}
	}
	return nil, unsupported(k, "the reference "+strconv.Quote(k.text)+" to a schema that is not here")
}

// local returns the document if a reference is only a fragment: many schemas of members have an $id and mean the whole document
// nevertheless.
func (c *compiler) local(k *value) *value {
	if strings.HasPrefix(k.text, "#") {
		return c.root
	}
	return nil
}

// find returns what a JSON pointer points to, or nil.
func (v *value) find(pointer string) *value {
	if pointer == "" {
		return v
	}
	if pointer[0] != '/' {
		return nil
	}
	for _, part := range strings.Split(pointer, "/")[1:] {
		part = unescapePointer.Replace(part)
		if v.kind == '[' {
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v.list) {
				return nil
			}
			v = v.list[i]
			continue
		}
		if v = v.field(part); v == nil {
			return nil
		}
	}
	return v
}

// olderThan2019 reports whether a schema says that it is of draft 7 or older.
func olderThan2019(root *value) bool {
	k := root.field("$schema")
	return k != nil && strings.Contains(k.text, "json-schema.org/draft-0")
}
