// Package turn is a lock that can be waited for with a time limit.
//
//	t := turn.New()
//	if err := t.TakeBefore(ctx); err != nil {
//		return err
//	}
//	defer t.Give()
package turn
