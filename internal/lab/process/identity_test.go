package process

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	tail := " 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 10"
	for name, tc := range map[string]struct {
		line  string
		want  stat
		ended bool
		bad   bool
	}{
		"plain":        {line: "42 (etcd) S" + tail, want: stat{"S", 1, 98765}},
		"parentheses":  {line: "42 (a) R (b) Z" + tail, want: stat{"Z", 1, 98765}, ended: true},
		"some threads": {line: "42 (x) Z 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 98765 1", want: stat{"Z", 3, 98765}},
		"empty":        {line: "", bad: true},
		"short":        {line: "42 (etcd) S 1 2", bad: true},
		"no number":    {line: "42 (x) S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 soon 1", bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseStat([]byte(tc.line))
			if (err != nil) != tc.bad || got != tc.want || got.ended() != tc.ended {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	self, err := Identify(os.Getpid())
	if err != nil || !self.Alive() {
		t.Fatalf("this process is %+v, %v", self, err)
	}
	other := self
	other.Start++
	if other.Alive() {
		t.Error("a PID with another start time is the same process")
	}
	cmd := exec.CommandContext(t.Context(), "/bin/true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := Identify(cmd.Process.Pid); !errors.Is(err, ErrGone) {
		t.Errorf("a process that ended: %v, want ErrGone", err)
	}
}

// Kill does not kill a process that only has the same PID.
func TestKillChecksIdentity(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "/bin/sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 1)
	go func() { waited <- cmd.Wait() }()
	id, err := Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	stranger := id
	stranger.Start++
	if err := Kill([]Identity{stranger, {}, {PID: 1}}); err != nil {
		t.Error(err)
	}
	if !id.Alive() {
		t.Fatal("an unrelated process was killed")
	}
	if err := Kill([]Identity{id}); err != nil {
		t.Error(err)
	}
	<-waited
}
