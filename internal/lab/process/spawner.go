package process

import (
	"os/exec"
	"runtime"
)

// spawner starts processes from one locked OS thread. The kernel delivers a parent-death signal
// when the forking thread ends, and Go may end threads at any time. This thread ends only with the
// spawner.
type spawner struct {
	reqs chan spawnRequest
	done chan struct{}
}

type spawnRequest struct {
	cmd *exec.Cmd
	err chan<- error
}

func newSpawner() *spawner {
	s := &spawner{reqs: make(chan spawnRequest), done: make(chan struct{})}
	go s.loop()
	return s
}

func (s *spawner) loop() {
	runtime.LockOSThread() // never unlocked: the thread ends with the loop
	defer close(s.done)
	for req := range s.reqs {
		req.err <- req.cmd.Start()
	}
}

func (s *spawner) start(cmd *exec.Cmd) error {
	err := make(chan error, 1)
	s.reqs <- spawnRequest{cmd: cmd, err: err}
	return <-err
}

// close ends the thread and thereby every child.
func (s *spawner) close() {
	close(s.reqs)
	<-s.done
}
