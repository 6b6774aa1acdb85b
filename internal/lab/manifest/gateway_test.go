package manifest

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The API server rejects a longer description, and no lab starts without the class.
func TestClassDescriptionLength(t *testing.T) {
	t.Parallel()
	const most = 64
	_, objects, err := Extra("gateway", Values{})
	if err != nil {
		t.Fatal(err)
	}
	class := find(t, objects, "GatewayClass", "world")
	text, _, err := unstructured.NestedString(class.Object, "spec", "description")
	if err != nil || text == "" || len(text) > most {
		t.Errorf("%d characters, %v", len(text), err)
	}
}
