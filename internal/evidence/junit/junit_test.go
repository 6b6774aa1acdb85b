package junit_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/evidence/junit"
)

func TestEveryCaseIsCountedOnce(t *testing.T) {
	t.Parallel()
	d := &junit.Detail{Message: "a <b> & c", Type: "failed", Text: "more"}
	data, err := junit.Write(junit.Report{Suite: junit.Suite{Tests: 9, Cases: []junit.Case{
		{Name: "passed"}, {Name: "failed", Failure: d}, {Name: "failed and skipped", Failure: d, Skipped: d}, {Name: "error", Error: d}, {Name: "skipped", Skipped: d},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := junit.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Suite
	if s.Tests != 5 || s.Failures != 2 || s.Errors != 1 || s.Skipped != 1 || len(s.Cases) != 5 || *s.Cases[1].Failure != *d {
		t.Errorf("got %+v", s)
	}
	if r.Name != "firstlight" || r.Tests != 5 || r.Failures != 2 || r.Errors != 1 || r.Skipped != 1 {
		t.Errorf("got %+v", r)
	}
}
