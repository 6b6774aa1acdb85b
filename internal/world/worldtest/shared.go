package worldtest

import (
	"reflect"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/world"
)

// T is a part of testing.TB.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(end func())
}

// Shared is the option of a world whose shared states (world.World.Recent) callers must not change: each is
// compared with a deep copy when the next one replaces it, and the last one at the end of the test.
func Shared(t T) world.Option {
	s := &shared{t: t}
	t.Cleanup(func() { s.next(world.State{}) })
	return world.WithShared(s.next)
}

type shared struct {
	t        T
	mu       sync.Mutex
	given    world.State // to callers
	original world.State // a copy from before
}

// next compares the state until now, and remembers the next one.
func (s *shared) next(state world.State) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !reflect.DeepEqual(s.original, s.given) {
		s.t.Errorf("the shared state of %s at %s was changed by a caller:\n%s", s.original.Name, s.original.Now, cmp.Diff(s.original, s.given))
	}
	s.given, s.original = state, Copy(state)
}

// Copy is a deep copy of a state: it has no slice, map or pointer of it.
func Copy(s world.State) world.State {
	out := s
	detach(reflect.ValueOf(&out).Elem())
	return out
}

// detach replaces all slices, maps and pointers in v by copies.
func detach(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return // its location is shared, and cannot be changed
		}
		for _, field := range v.Fields() {
			detach(field)
		}
	case reflect.Array:
		for i := range v.Len() {
			detach(v.Index(i))
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(out, v)
		v.Set(out)
		for i := range v.Len() {
			detach(v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() {
			return
		}
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for k, of := range v.Seq2() {
			value := reflect.New(of.Type()).Elem()
			value.Set(of)
			detach(value)
			out.SetMapIndex(k, value)
		}
		v.Set(out)
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(v.Elem())
		v.Set(out)
		detach(out.Elem())
	default: // a value
	}
}
