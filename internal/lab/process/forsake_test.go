package process

import (
	"syscall"
	"testing"
)

// A program that is forsaken stays ended when it dies, until it is not any more; one
// that is asked to end meanwhile ends.
func TestForsake(t *testing.T) {
	t.Parallel()
	for name, release := range map[string]func(s *Supervisor){
		"taken up again": func(s *Supervisor) { s.Forsake("a", false) },
		"removed":        func(s *Supervisor) { s.Remove("a") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, r := start(t, Options{})
			s.Forsake("a", true)
			s.Forsake("a", true) // twice is once
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
