package scenario_test

import (
	"fmt"
	"reflect"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fill gives every field that v has below it a value of its own: one item in every
// list and map, something behind every pointer.
func fill(v reflect.Value, next *int) {
	*next++
	switch v.Interface().(type) {
	case resource.Quantity:
		v.Set(reflect.ValueOf(resource.MustParse(strconv.Itoa(*next))))
		return
	case metav1.Time:
		v.Set(reflect.ValueOf(metav1.Unix(int64(*next), 0)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text-" + strconv.Itoa(*next))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*next))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), next)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, item := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, next)
		fill(item, next)
		v.SetMapIndex(key, item)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, next)
		}
	default:
		panic(fmt.Sprintf("nothing to fill a %s with", v.Type()))
	}
}

// change is one thing that can be different.
type change struct {
	path string
	do   func()
}

// changes are all that can be different below v; store writes v back to where it is from.
func changes(v reflect.Value, path string, store func()) []change {
	at := func(what string, do func()) change { return change{path + what, func() { do(); store() }} }
	switch v.Interface().(type) {
	case resource.Quantity:
		return []change{at("", func() { v.Set(reflect.ValueOf(resource.MustParse("7777"))) })}
	case metav1.Time:
		return []change{at("", func() { v.Set(reflect.ValueOf(metav1.Unix(7777, 0))) })}
	}
	switch v.Kind() {
	case reflect.String:
		return []change{at("", func() { v.SetString("other") })}
	case reflect.Bool:
		return []change{at("", func() { v.SetBool(false) })}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return []change{at("", func() { v.SetInt(7777) })}
	case reflect.Pointer:
		return append(changes(v.Elem(), path, store), at(" nil", func() { v.SetZero() }))
	case reflect.Slice:
		return append(changes(v.Index(0), path+"[]", store), at(" empty", func() { v.SetZero() }))
	case reflect.Map:
		return append(mapChanges(v, path, store), at(" empty", func() { v.SetZero() }))
	default:
		var out []change
		for i := range v.NumField() {
			out = append(out, changes(v.Field(i), path+"."+v.Type().Field(i).Name, store)...)
		}
		return out
	}
}

func mapChanges(v reflect.Value, path string, store func()) []change {
	key := v.MapKeys()[0]
	item := reflect.New(v.Type().Elem()).Elem()
	item.Set(v.MapIndex(key))
	out := changes(item, path+"{}", func() { v.SetMapIndex(key, item); store() })
	return append(out, change{path + " key", func() {
		v.SetMapIndex(key, reflect.Value{})
		v.SetMapIndex(reflect.ValueOf("other-key").Convert(v.Type().Key()), item)
		store()
	}})
}
