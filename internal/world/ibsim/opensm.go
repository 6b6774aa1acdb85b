package ibsim

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/world/daemon"
	"github.com/firstlight/firstlight/internal/world/fabric"
)

// SM is a running OpenSM.
type SM struct {
	p   *daemon.Daemon
	dir string
}

// options of OpenSM: it leaves speed and width of the links as the fabric has them, and writes
// each line of its log at once.
const options = "force_link_speed 0\nforce_link_speed_ext 0\nforce_link_width 0\nforce_log_flush TRUE\n"

// StartSM starts OpenSM on a switch and returns when it has configured the subnet, or is standby. sweep is its sweep
// interval in seconds; 0: it sweeps only at its start and after traps. more are further arguments.
func (f *Fabric) StartSM(ctx context.Context, on fabric.Switch, sweep int, more ...string) (*SM, error) {
	dir := filepath.Join(f.dir, "sm-"+on.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	conf := filepath.Join(dir, "opensm.conf")
	if err := os.WriteFile(conf, []byte(options), 0o600); err != nil {
		return nil, err
	}
	// The shell writes its process id, which OpenSM keeps.
	args := append([]string{"-c", `echo $$ > pid; exec "$0" "$@"`, program("opensm"),
		"-F", conf, "-f", filepath.Join(dir, "log"), "-g", fmt.Sprintf("0x%x", on.GUID), "-s", strconv.Itoa(sweep)}, more...)
	cmd := exec.Command("sh", args...) //nolint:noctx // daemon.Start has the context
	cmd.Dir, cmd.Env = dir, append(f.at(on.Name, ""), "OSM_CACHE_DIR="+dir, "OSM_TMP_DIR="+dir)
	s := &SM{daemon.Start(ctx, cmd, grace), dir}
	return s, s.wait(ctx, "Entering STANDBY", 1)
}

// Sweeps is how often it has configured the whole subnet.
func (s *SM) Sweeps() int { return strings.Count(s.log(), "SUBNET UP") }

// Swept returns when it has configured the subnet n times.
func (s *SM) Swept(ctx context.Context, n int) error { return s.wait(ctx, "", n) }

func (s *SM) log() string {
	log, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(log)
}

// wait returns when the log has a text, or n times "SUBNET UP".
func (s *SM) wait(ctx context.Context, text string, n int) error {
	ctx, cancel := context.WithTimeout(ctx, ready)
	defer cancel()
	return poll.Until(ctx, 50*time.Millisecond, "OpenSM in "+s.dir, func(context.Context) error {
		if ended := s.p.Alive(); ended != nil {
			return poll.Stop(ended)
		}
		if log := s.log(); s.Sweeps() < n && (text == "" || !strings.Contains(log, text)) {
			return fmt.Errorf("the subnet was configured %d times, want %d: %s", s.Sweeps(), n, daemon.Tail(log))
		}
		return nil
	})
}

// Kill ends OpenSM at once, as a crash does: it does not leave the subnet.
func (s *SM) Kill() error {
	raw, err := os.ReadFile(filepath.Join(s.dir, "pid"))
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return fmt.Errorf("process id of OpenSM: %w", err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill OpenSM: %w", err)
	}
	s.p.Wait()
	return nil
}

// Stop ends OpenSM.
func (s *SM) Stop() { s.p.Stop() }
