package store_test

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firstlight/firstlight/internal/reservation/store"
)

// The deep copies are generated: a field that was added and not generated would share memory.
func TestDeepCopySharesNoMemory(t *testing.T) {
	for _, o := range []runtime.Object{&store.ReservationList{}, &store.ReservationHistoryList{}, &store.HandOverList{}} {
		fill(reflect.ValueOf(o).Elem())
		c := o.DeepCopyObject()
		if !reflect.DeepEqual(o, c) {
			t.Errorf("a copy of a %T is not equal", o)
		}
		if path := overlap(reflect.TypeOf(o).String(), reflect.ValueOf(o), reflect.ValueOf(c)); path != "" {
			t.Errorf("%s is shared with the copy: run make generate", path)
		}
	}
}

// fill sets every exported pointer, slice and map.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	default: // a copy of a scalar shares nothing
	}
}

// overlap returns the path below at of memory that both values refer to, or nothing.
func overlap(at string, a, b reflect.Value) string {
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if a.Pointer() == b.Pointer() {
			return at
		}
	default:
	}
	switch a.Kind() {
	case reflect.Pointer:
		return overlap(at, a.Elem(), b.Elem())
	case reflect.Slice:
		return overlap(at+"[]", a.Index(0), b.Index(0))
	case reflect.Struct:
		for i := range a.NumField() {
			if f := a.Type().Field(i); f.IsExported() {
				if path := overlap(at+"."+f.Name, a.Field(i), b.Field(i)); path != "" {
					return path
				}
			}
		}
	default:
	}
	return ""
}
