package collective

import (
	"crypto/ed25519"
	"crypto/rand"
	_ "embed"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"

	probe "github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// script starts an SSH server in every pod and mpirun in the first.
//
//go:embed run.sh
var script string

// beginning is the first line that the script prints. A log without it has lost its beginning.
const beginning = "firstlight: beginning of the log"

// command describes the command of a job.
func (g *Gate) command(j job) string {
	if g.srun != nil {
		return fmt.Sprintf("%s, %d times", probe.Quote(g.srun.argv(j)), j.repetitions)
	}
	least, most := g.sizes()
	rail := ""
	if j.rail != "" {
		rail = "-x NCCL_IB_HCA==" + j.rail + " "
	}
	return fmt.Sprintf("mpirun %s%s -b %s -e %s -f 2 -g 1, %d times", rail, j.test.program, least, most, j.repetitions)
}

// sizes are the minimum and maximum size in nccl-tests' format.
func (g *Gate) sizes() (least, most string) {
	least, most = g.profile.Collective.MinBytes, g.profile.Collective.MaxBytes
	if s := g.site.Workloads.Collective.MinBytes; s != "" {
		least = s
	}
	if s := g.site.Workloads.Collective.MaxBytes; s != "" {
		most = s
	}
	return least, most
}

// Workloads are the pods of the run over all nodes.
func (g *Gate) Workloads() ([]workload.Spec, error) {
	spec, err := g.spec(g.all(tests[0]))
	return []workload.Spec{spec}, err
}

// spec is the workload of a job. The script differs in its program only.
func (g *Gate) spec(j job) (workload.Spec, error) {
	identity, err := newIdentity()
	if err != nil {
		return workload.Spec{}, err
	}
	least, most := g.sizes()
	name, nodes := j.name(), j.nodes
	env := map[string]string{
		"JOB_NAME": name, "NNODES": strconv.Itoa(len(nodes)), "GPUS_PER_NODE": strconv.Itoa(g.gpus()),
		"MIN_BYTES": least, "MAX_BYTES": most, "REPETITIONS": strconv.Itoa(j.repetitions),
		"NCCL_DEBUG": "INFO", "SSH_IDENTITY": identity,
	}
	if hcas := g.hcas(j.rail); len(hcas) > 0 { // "=" alone would select no device
		env["NCCL_IB_HCA"] = "=" + strings.Join(hcas, ",")
	}
	if g.byDomain() {
		env["NCCL_DEBUG_SUBSYS"] = domainSubsystems
	}
	return workload.Spec{
		Name: name, Gate: Name, Pods: len(nodes), MinCount: len(nodes),
		GPUs:            g.gpus(),
		NetworkResource: g.site.Fabric.NetworkResource, NetworkCount: g.site.Fabric.NetworkResourceCount,
		Image: g.site.Workloads.Collective.Image, Container: site.CollectiveContainer, Script: strings.Replace(script, tests[0].program, j.test.program, 1),
		Env:   env,
		Nodes: nodes, OnePerNode: true,
		Patches: g.site.PodPatches(Name),
	}, nil
}

// newIdentity creates the SSH key for mpirun in the job's pods. It is valid for one job only.
func newIdentity() (string, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", fmt.Errorf("make the job's SSH key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		return "", fmt.Errorf("encode the job's SSH key: %w", err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(block)), nil
}
