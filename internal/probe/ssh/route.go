package ssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/ssh/sshconfig"
	"github.com/firstlight/firstlight/internal/site"
)

// hop is an SSH server and how to log in to it.
type hop struct {
	address string // host:port
	network string // tcp, tcp4 or tcp6
	// lookup is the host:port that it has in known_hosts.
	lookup   string
	user     string
	identity *identity
	known    *knownHosts
	// via is the jump host before it; nil: none.
	via *hop
}

// router makes the hops of a site. Hops that are equal are shared.
type router struct {
	reach      site.SSH
	options    Options
	config     *sshconfig.Config // nil: none
	jumps      map[string]*hop
	identities map[string]*identity
	known      map[string]*knownHosts
}

func newRouter(reach site.SSH, o Options) (*router, error) {
	r := &router{reach: reach, options: o, jumps: map[string]*hop{}, identities: map[string]*identity{}, known: map[string]*knownHosts{}}
	if reach.ConfigFile == "" {
		return r, nil
	}
	var err error
	if r.config, err = sshconfig.Load(reach.ConfigFile); err != nil {
		return nil, fmt.Errorf("reach.ssh.configFile: %w", err)
	}
	return r, nil
}

// hosts are the hops of the inventory, by node name. All problems are in the error, each once.
func (r *router) hosts(s *site.Site) (map[string]*hop, error) {
	out := map[string]*hop{}
	var problems []string
	for _, n := range slices.Concat(s.Inventory.Nodes, s.Inventory.SystemNodes) {
		host, port, err := net.SplitHostPort(n.Address)
		if err != nil {
			host, port = n.Name, ""
		}
		h, jumps, err := r.hop(sshconfig.Jump{User: r.reach.User, Host: host, Port: port}, false)
		if err == nil {
			h.via, err = r.via(jumps, host, 0)
		}
		if err != nil {
			problems = append(problems, strings.Split(err.Error(), "\n")...)
			continue
		}
		out[n.Name] = h
	}
	if len(problems) == 0 {
		return out, nil
	}
	var errs []error
	for i, text := range problems {
		if !slices.Contains(problems[:i], text) {
			errs = append(errs, errors.New(text))
		}
	}
	return nil, errors.Join(errs...)
}

// hop resolves a host as ssh [-l user] [-p port] host does, and returns its jump hosts.
func (r *router) hop(to sshconfig.Jump, isJump bool) (*hop, []sshconfig.Jump, error) {
	options := sshconfig.Host{HostName: to.Host, User: to.User, Port: cmp.Or(to.Port, "22"), Network: "tcp"}
	if r.config != nil {
		var err error
		if options, err = r.config.Host(to.Host, to.User, to.Port); err != nil {
			return nil, nil, err
		}
	}
	if options.User == "" {
		return nil, nil, fmt.Errorf("no user to log in to %s: set User for it in %s%s", to.Host, r.reach.ConfigFile, orSite(isJump))
	}
	h := &hop{
		address: net.JoinHostPort(options.HostName, options.Port), network: options.Network, user: options.User,
		identity: r.identity(options, isJump),
	}
	h.lookup = h.address
	if options.HostKeyAlias != "" {
		h.lookup = net.JoinHostPort(options.HostKeyAlias, "22")
	}
	h.known = r.knownHosts(options)
	return h, options.Jumps, nil
}

func orSite(isJump bool) string {
	if isJump {
		return ", or write ProxyJump USER@HOST"
	}
	return ", or set reach.ssh.user"
}

// maxJumps limits the jump hosts before a host: ssh has no limit but fails for a loop.
const maxJumps = 8

// via is the last of a list of jump hosts. The first of them is reached as its own options say,
// the others through the one before. depth is the number of jump hosts that these options led to.
func (r *router) via(jumps []sshconfig.Jump, name string, depth int) (*hop, error) {
	var via *hop
	for i, j := range jumps {
		if depth+i >= maxJumps {
			return nil, fmt.Errorf("ProxyJump of %s: more than %d jump hosts: is there a loop?", name, maxJumps)
		}
		key := fmt.Sprintf("%s %p", j, via)
		if known, ok := r.jumps[key]; ok {
			via = known
			continue
		}
		next, own, err := r.hop(j, true)
		if err == nil {
			next.via = via
			if i == 0 {
				next.via, err = r.via(own, j.Host, depth+1)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("ProxyJump of %s: %w", name, err)
		}
		r.jumps[key] = next
		via = next
	}
	return via, nil
}

func (r *router) knownHosts(options sshconfig.Host) *knownHosts {
	k := &knownHosts{files: options.KnownHostsFiles}
	if r.reach.KnownHostsFile != "" {
		k = &knownHosts{files: []string{r.reach.KnownHostsFile}, required: true}
	}
	key := strings.Join(k.files, "\n")
	if r.known[key] == nil {
		r.known[key] = k
	}
	return r.known[key]
}

// identity are the keys for a host: those of the site, else those of the options, else those of
// ssh-agent. For a jump host the options come first.
func (r *router) identity(options sshconfig.Host, isJump bool) *identity {
	i := &identity{
		required: true, only: true, agent: cmp.Or(options.Agent, r.options.AgentSocket),
		files: r.reach.Identities(), certificateFiles: r.reach.CertificateFiles,
	}
	if options.NoAgent {
		i.agent = ""
	}
	if len(i.files) == 0 || isJump && len(options.IdentityFiles) > 0 {
		i.files, i.required, i.only = options.IdentityFiles, false, options.IdentitiesOnly
		if isJump || len(i.certificateFiles) == 0 {
			i.certificateFiles = options.CertificateFiles
		}
	}
	key := fmt.Sprintf("%q %q %q %t", i.files, i.certificateFiles, i.agent, i.only)
	if r.identities[key] == nil {
		r.identities[key] = i
	}
	return r.identities[key]
}

// read reads the known hosts and the keys of all hops.
func (r *router) read(ctx context.Context) error {
	ring := &keyring{passphraseFile: r.reach.PassphraseFile, ask: r.options.Passphrase, keys: map[string]key{}}
	var errs []error
	for _, k := range r.known {
		errs = append(errs, k.load())
	}
	for _, i := range r.identities {
		errs = append(errs, i.load(ctx, ring))
	}
	return errors.Join(errs...)
}

// exists reports whether a file can be found; an error other than that is left to its reader.
func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil || !errors.Is(err, os.ErrNotExist)
}
