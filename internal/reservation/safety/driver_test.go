package safety

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/reservation/store/storetest"
)

// plan is one run of workers.
type plan struct {
	Seed            uint64
	Ops             int
	Workers, Actors int
	// Phases of so many reservations each, which are worked on at once.
	Phases, Together int
	Defect           defect
	// Calm: no worker is killed; they are still stopped, so that leases expire.
	Calm bool
	// Outages are how often etcd or the API server is killed.
	Outages int
	// Every so often a worker is killed or stopped.
	Every  time.Duration
	Within time.Duration
}

// driver runs a plan.
type driver struct {
	plan
	t       *testing.T
	store   *storetest.Store
	kube    *store.Kube
	dir     string
	rng     *rand.Rand
	phases  [][]string
	phase   int
	started int
	running []*process
	ended   []*process
	ops     map[[2]int64]op // by worker and number
	done    int
	counts  map[string]int
}

// process is one worker.
type process struct {
	id      int
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	journal reader
	exit    chan error
	killed  int64 // at, 0: not killed
	stopped int64 // continued at, 0: not stopped
}

// drive runs a plan to its end and returns the operations.
func drive(t *testing.T, st *storetest.Store, p plan) *driver {
	t.Helper()
	kube, err := store.NewKube(st.Config)
	if err != nil {
		t.Fatal(err)
	}
	d := &driver{
		plan: p, t: t, store: st, kube: kube, dir: t.TempDir(), rng: rand.New(rand.NewPCG(p.Seed, 0)),
		ops: map[[2]int64]op{}, counts: map[string]int{},
	}
	d.reservations()
	t.Cleanup(d.killAll)
	for range p.Workers {
		d.start()
	}
	d.run()
	d.finish()
	return d
}

func (d *driver) reservations() {
	for i := range d.Phases {
		var names []string
		for j := range d.Together {
			spec := store.Spec{NeedsNoCleaning: j%3 == 2}
			name := fmt.Sprintf("r%x-%d-%d", d.Seed, i, j)
			if spec.NeedsNoCleaning {
				name += "-free"
			}
			r := &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
			if _, err := d.kube.Create(d.t.Context(), r); err != nil {
				d.t.Fatal(err)
			}
			names = append(names, name)
		}
		d.phases = append(d.phases, names)
	}
}

func (d *driver) start() {
	d.t.Helper()
	d.started++
	path := filepath.Join(d.dir, fmt.Sprintf("worker-%d", d.started))
	raw, err := json.Marshal(assignment{
		ID: d.started, Seed: d.Seed<<16 + uint64(d.started), Actors: d.Actors, Copied: d.started%3 != 1,
		Phase: d.phase, Phases: d.phases, Journal: path, Defect: d.Defect,
		Host: d.store.Config.Host, Token: d.store.Config.BearerToken, TLS: d.store.Config.TLSClientConfig,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path+".json", raw, 0o600); err != nil { // it has the key of an administrator
		d.t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	logged, err := os.Create(path + ".err")
	if err != nil {
		d.t.Fatal(err)
	}
	defer logged.Close()
	p := &process{id: d.started, cmd: exec.Command(os.Args[0]), exit: make(chan error, 1), journal: reader{file: file}}
	p.cmd.Env = append(os.Environ(), asWorker+"="+path+".json")
	p.cmd.Stdout, p.cmd.Stderr = logged, logged
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // stopped and left alone, it is hung up
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		d.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() { p.exit <- p.cmd.Wait() }()
	d.running = append(d.running, p)
}

// run lets them work until there are enough operations.
func (d *driver) run() {
	deadline := time.Now().Add(d.Within)
	next, outages := d.soon(), 0
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for d.done < d.Ops {
		<-tick.C
		if time.Now().After(deadline) {
			d.t.Fatalf("%d of %d operations within %s", d.done, d.Ops, d.Within)
		}
		d.read()
		d.alive()
		if phase := min(d.done*d.Phases/d.Ops, d.Phases-1); phase > d.phase {
			d.phase = phase
			d.tell()
			d.t.Logf("phase %d: %d operations, %v", phase, d.done, d.counts)
		}
		now := monotonic()
		for _, p := range d.running {
			if p.stopped != 0 && now >= p.stopped {
				p.stopped = 0
				d.signal(p, syscall.SIGCONT)
			}
		}
		if now >= next {
			d.trouble(now)
			next = d.soon()
		}
		if outages < d.Outages && d.done > (outages+1)*d.Ops/(d.Outages+1) {
			outages++
			d.outage(outages)
		}
	}
}

func (d *driver) soon() int64 {
	return monotonic() + int64(d.Every)/3 + d.rng.Int64N(int64(d.Every)*4/3)
}

// trouble kills a worker, or stops one for about as long as a lease lasts or longer.
func (d *driver) trouble(now int64) {
	p := d.running[d.rng.IntN(len(d.running))]
	if p.stopped != 0 {
		return
	}
	if !d.Calm && d.rng.IntN(10) < 4 {
		d.counts["killed"]++
		d.kill(p)
		d.start()
		return
	}
	d.counts["stopped"]++
	d.signal(p, syscall.SIGSTOP)
	p.stopped = now + int64(200*time.Millisecond) + d.rng.Int64N(int64(2300*time.Millisecond))
}

func (d *driver) kill(p *process) {
	d.signal(p, syscall.SIGKILL)
	<-p.exit
	p.killed = monotonic()
	d.running = slices.DeleteFunc(d.running, func(q *process) bool { return q == p })
	d.ended = append(d.ended, p)
}

func (d *driver) outage(n int) {
	name := []string{"etcd", "kube-apiserver"}[n%2]
	d.counts["killed "+name]++
	if err := d.store.Kill(name); err != nil {
		d.t.Fatal(err)
	}
}

func (d *driver) signal(p *process, s syscall.Signal) {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		d.t.Errorf("send %s to worker %d: %v", s, p.id, err)
	}
}

// alive fails where a worker ended by itself.
func (d *driver) alive() {
	for _, p := range d.running {
		select {
		case err := <-p.exit:
			p.exit <- err
			logged, _ := os.ReadFile(filepath.Join(d.dir, fmt.Sprintf("worker-%d.err", p.id)))
			d.t.Fatalf("worker %d ended: %v\n%s", p.id, err, logged)
		default:
		}
	}
}

func (d *driver) tell() {
	for _, p := range d.running {
		if _, err := io.WriteString(p.stdin, strconv.Itoa(d.phase)+"\n"); err != nil {
			d.t.Errorf("tell worker %d: %v", p.id, err)
		}
	}
}

// read takes in what was written down since it was last called.
func (d *driver) read() {
	for _, p := range slices.Concat(d.running, d.ended) {
		if p.journal.file == nil {
			continue
		}
		err := p.journal.more(func(o op) {
			d.ops[[2]int64{int64(o.Worker), o.ID}] = o
			if o.Ret != 0 {
				d.done++
			}
		})
		if err != nil {
			d.t.Fatal(err)
		}
		if p.killed != 0 {
			_ = p.journal.file.Close() // it was read to its end
			p.journal.file = nil
		}
	}
}

// finish lets the workers end what they are at.
func (d *driver) finish() {
	for _, p := range d.running {
		if p.stopped != 0 {
			d.signal(p, syscall.SIGCONT)
		}
		_ = p.stdin.Close() // which ends it
	}
	for _, p := range slices.Clone(d.running) {
		select {
		case err := <-p.exit:
			if err != nil {
				logged, _ := os.ReadFile(filepath.Join(d.dir, fmt.Sprintf("worker-%d.err", p.id)))
				d.t.Errorf("worker %d: %v\n%s", p.id, err, logged)
			}
			p.killed = monotonic()
			d.running = slices.DeleteFunc(d.running, func(q *process) bool { return q == p })
			d.ended = append(d.ended, p)
		case <-time.After(2 * time.Minute):
			d.t.Errorf("worker %d does not end", p.id)
			d.kill(p)
		}
	}
	d.read()
	polltest.UntilNil(d.t, "the store to answer", func() error { // a killed API server starts again
		_, err := d.kube.Get(d.t.Context(), d.phases[0][0])
		return err
	})
}

func (d *driver) killAll() {
	for _, p := range slices.Clone(d.running) {
		d.kill(p)
	}
}
