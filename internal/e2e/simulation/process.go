package simulation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/controller"
)

// process is a controller.
type process struct {
	name    string
	cmd     *exec.Cmd
	log     string
	address string
	ended   chan struct{}
	err     error
	stopped bool
}

// environ returns the environment of all programs.
func (p *runner) environ() []string {
	return append(os.Environ(), "FIRSTLIGHT_HOME="+filepath.Join(p.dir, "home"))
}

// firstlight runs a command of this program to its end.
func (p *runner) firstlight(ctx context.Context, args ...string) ([]byte, error) {
	argv := append(append([]string{}, p.opts.Command...), args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = p.environ(), p.dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	if err != nil {
		return out, fmt.Errorf("firstlight %v: %w", args, err)
	}
	return out, nil
}

// startController starts another controller.
func (p *runner) startController(ctx context.Context) error {
	c := &process{name: fmt.Sprintf("controller-%d", len(p.controllers)+1), ended: make(chan struct{})}
	c.log = filepath.Join(p.dir, c.name+".log")
	log, err := os.Create(c.log)
	if err != nil {
		return fmt.Errorf("start a controller: %w", err)
	}
	defer log.Close()
	argv := append(append([]string{}, p.opts.Command...), "reservation", "run", "--listen", "127.0.0.1:0", "--clock", p.clockPath(),
		"--ready-checks", "1", "--ready-interval", "250ms", "--ready-timeout", "10m", "--grace", "1s", "--period", "10s", "--poll", "250ms", "--leader-elect-lease-duration", "4s")
	c.cmd = exec.CommandContext(context.WithoutCancel(ctx), argv[0], argv[1:]...)
	c.cmd.Env, c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = p.environ(), p.dir, log, log
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := c.cmd.Start(); err != nil {
		return fmt.Errorf("start a controller: %w", err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.ended)
	}()
	p.controllers = append(p.controllers, c)
	return nil
}

func (c *process) signal(s syscall.Signal) { _ = syscall.Kill(-c.cmd.Process.Pid, s) } // it may have exited

func (c *process) gone() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// kill kills a controller, like a power failure.
func (c *process) kill() {
	c.signal(syscall.SIGKILL)
	<-c.ended
}

// end stops a controller gracefully.
func (c *process) end() {
	c.signal(syscall.SIGCONT)
	c.signal(syscall.SIGTERM)
	timer := time.AfterFunc(endWithin, func() { c.signal(syscall.SIGKILL) })
	defer timer.Stop()
	<-c.ended
}

const endWithin = time.Minute

var listening = regexp.MustCompile(`msg=listening address=(\S+)`)

// status requests the status of a controller; nil while it does not answer.
func (c *process) status(ctx context.Context) *status {
	if c.address == "" {
		raw, err := os.ReadFile(c.log)
		if m := listening.FindSubmatch(raw); err == nil && m != nil {
			c.address = string(m[1])
		}
	}
	if c.address == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.address+"/status", http.NoBody)
	if err != nil {
		return nil
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	s := &status{}
	if json.NewDecoder(resp.Body).Decode(s) != nil {
		return nil
	}
	return s
}

// status is the response of /status.
type status struct {
	Leads bool `json:"leads"`
	controller.Status
}

// leading returns the status of the leader; nil if absent. A controller that exited by
// itself is an error.
func (p *runner) leading(ctx context.Context) (*status, error) {
	var found *status
	for _, c := range p.controllers {
		if c.stopped {
			continue
		}
		if c.gone() {
			return nil, fmt.Errorf("%s has exited: %w; see %s", c.name, c.err, c.log)
		}
		if s := c.status(ctx); s != nil && s.Leads {
			found = s
		}
	}
	return found, nil
}

// leader returns the leading controller.
func (p *runner) leader(ctx context.Context) *process {
	for _, c := range p.controllers {
		if !c.stopped && !c.gone() {
			if s := c.status(ctx); s != nil && s.Leads {
				return c
			}
		}
	}
	return nil
}
