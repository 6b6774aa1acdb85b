package process

import (
	"syscall"
	"testing"
	"time"
)

// A program with HoldDown is restarted after the delay; a stop meanwhile ends it.
func TestHoldDown(t *testing.T) {
	t.Parallel()
	for name, release := range map[string]func(s *Supervisor){
		"taken up again": func(s *Supervisor) { s.HoldDown("a", 0) },
		"removed":        func(s *Supervisor) { s.Remove("a") },
		"for a moment":   func(*Supervisor) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, r := start(t, Options{})
			s.HoldDown("a", time.Hour)
			if name == "for a moment" {
				s.HoldDown("a", time.Second)
			}
			if err := s.Start(t.Context(), script(t, "a", "exec sleep 1000")); err != nil {
				t.Fatal(err)
			}
			first := s.Status()[0].Identity
			if err := syscall.Kill(first.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			r.await(t, "its death", func(e Event) bool { return e.State == Waiting })
			if st := s.Status()[0]; st.Restarts != 0 || st.State != Waiting {
				t.Errorf("%+v", st)
			}
			release(s)
			if name == "removed" {
				r.await(t, "its end", func(e Event) bool { return e.State == Stopped })
				return
			}
			r.await(t, "its restart", func(e Event) bool { return e.State == Ready && e.PID != first.PID })
		})
	}
}
