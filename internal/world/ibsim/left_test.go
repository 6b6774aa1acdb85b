package ibsim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// scanned closes all after the commands that run in the soak: iblinkinfo, ibdiagnet, ibnetdiscover, and two on each host.
type scanned struct {
	*programs
	mu   sync.Mutex
	left int
	all  chan struct{}
}

func (s *scanned) Run(ctx context.Context, node string, argv ...string) (ssh.Output, error) {
	out, err := s.programs.Run(ctx, node, argv...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if argv[0] != "sminfo" && argv[0] != "ibqueryerrors" {
		if s.left--; s.left == 0 {
			close(s.all)
		}
	}
	return out, err
}

// A host of others may leave the subnet during the soak, or not answer queries of its counters: the real tools name it.
// A node of the site may not.
func TestNodesThatLeaveOverRealPrograms(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	suite.Admit(t)
	for name, tt := range map[string]struct {
		before, during string // commands of ibsim's console
		verdict        check.Verdict
		suspect        string
		message        string
	}{
		"a host of others leaves":          {"", `Unlink "storage-01 mlx5_0"[1]`, check.Passed, "storage-01/mlx5_0", "left the subnet during the soak"},
		"an adapter of the site leaves":    {"", `Unlink "gpu-02 mlx5_1"[1]`, check.Failed, "gpu-02/mlx5_1", "left the subnet during the soak"},
		"a host of others does not answer": {`Error "storage-01 mlx5_0"[1] 100 0x12`, "", check.Passed, "storage-01/mlx5_0", "queries of error counters of storage-01 mlx5_0 were not answered"},
		"an adapter does not answer":       {`Error "gpu-02 mlx5_1"[1] 100 0x12`, "", check.Unobserved, "fabric", "queries of error counters were not answered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := declared(t, 4, 2, 2)
			healthy := w.State()
			if _, err := w.AddFault(world.Fault{Kind: "foreign-hosts"}); err != nil {
				t.Fatal(err)
			}
			s.Fabric.Others = listed
			p := startPrograms(t, healthy, w.State())
			p.diagnosed = w.State()
			sm := p.startSM(t, realSweep)
			if tt.before != "" {
				p.console(t, tt.before)
			}
			hosts := &scanned{programs: p, left: 3 + 2*len(s.Inventory.Nodes), all: make(chan struct{})}
			j := judge(t, s, "h100-sxm-hdr200", hosts, func(ctx context.Context, _ time.Duration) error {
				select {
				case <-hosts.all:
				case <-ctx.Done():
					return fmt.Errorf("scan: %w", ctx.Err())
				}
				if tt.during != "" {
					n := sm.Sweeps()
					p.console(t, tt.during)
					if err := sm.Swept(ctx, n+1); err != nil {
						return fmt.Errorf("sweep: %w", err)
					}
				}
				return poll.Sleep(ctx, realSoak)
			})
			if j.Verdict != tt.verdict || !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
				return f.Suspect == tt.suspect && strings.Contains(f.Message, tt.message)
			}) {
				t.Errorf("%s %s, want %s, %s: %s; %+v", j.Verdict, j.Reason, tt.verdict, tt.suspect, tt.message, j.Findings)
			}
		})
	}
}
