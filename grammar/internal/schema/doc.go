// Package schema makes programs of package machine from JSON Schemas.
//
//	c, err := schema.Compile([]byte(`{"type": "object", "properties": {"n": {"type": "integer"}}}`))
//	m := c.Machine // follows documents that satisfy the schema
//
// A schema is a Boolean combination of constraints, and each constraint is about one type of values. The compiler forms the disjunctive
// normal form of each schema: bundles, each of which has a constraint for every type. A conjunction of bundles is formed type by type:
// sets of numbers and strings are regular languages, which package regular intersects, and the schemas of members are conjunctions in
// turn, compiled when they are reached. Negation (not, oneOf, if) is formed keyword by keyword, where that is possible.
package schema
