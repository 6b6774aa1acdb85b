package simulation

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

//go:embed data
var data embed.FS

// owner is the owner label of the deployments.
const owner = "simulation"

// prepare writes the configuration files.
func (p *runner) prepare() error {
	for _, name := range []string{"reservations.yaml", "schedule.yaml", "batch.yaml", "tags.txt"} {
		raw, err := data.ReadFile("data/" + name)
		if err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
		if err := p.write(name, string(raw)); err != nil {
			return err
		}
	}
	command, err := json.Marshal(append(append([]string{}, p.opts.Command...), "reservation", "hook", "lab"))
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	environment := "FIRSTLIGHT_HOME"
	if os.Getenv("FIRSTLIGHT_CACHE") != "" {
		environment += ", FIRSTLIGHT_CACHE"
	}
	var hooks strings.Builder
	fmt.Fprintf(&hooks, "apiVersion: %s\nowner: %s\nhooks:\n", hook.APIVersion, owner)
	for _, cloud := range []config.Cloud{config.AWS, config.GCP} {
		fmt.Fprintf(&hooks, "- {cloud: %s, command: %s, environment: [%s]}\n", cloud, command, environment)
	}
	return p.write("hooks.yaml", hooks.String())
}

// write writes a file in the simulation's directory.
func (p *runner) write(name, text string) error {
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func (p *runner) clockPath() string { return filepath.Join(p.dir, "clock") }

func (p *runner) registry() (*config.Registry, error) {
	return config.LoadRegistry(filepath.Join(p.dir, "reservations.yaml"))
}

// provision calls the hook directly, without a lease.
func (p *runner) provision(ctx context.Context, reservation, name string, token int64) error {
	resp, err := p.hook(ctx, hook.Provision, reservation, name, token)
	if err == nil && resp.Deployment == nil {
		err = fmt.Errorf("the hook returned no deployment for %s", name)
	}
	return err
}

// discover lists the deployments of any owner.
func (p *runner) discover(ctx context.Context, reservation string) ([]hook.Deployment, error) {
	resp, err := p.hook(ctx, hook.Discover, reservation, "", 0)
	if err != nil {
		return nil, err
	}
	return *resp.Deployments, nil
}

func (p *runner) hook(ctx context.Context, verb hook.Verb, reservation, name string, token int64) (*hook.Response, error) {
	reg, err := p.registry()
	if err != nil {
		return nil, err
	}
	row, ok := reg.Find(reservation)
	if !ok {
		return nil, fmt.Errorf("%s is not in the registry", reservation)
	}
	r := hook.Request{APIVersion: hook.APIVersion, Verb: verb, Owner: owner, Cloud: row.Cloud, Reservation: &row, Deployment: name, Deadline: time.Now().Add(stallTimeout), Attempt: 1}
	if verb == hook.Provision {
		r.Intent, r.Lease = row.DaytimeIntent, hook.Lease{Token: token, Holder: "somebody"}
	}
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", verb, name, err)
	}
	argv := append(append([]string{}, p.opts.Command...), "reservation", "hook", "lab")
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, log bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.environ(), p.dir, bytes.NewReader(body), &out, &log
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s%s", verb, name, err, out.String(), log.String())
	}
	resp, err := hook.ParseResponse(out.Bytes(), r)
	return &resp, err
}
