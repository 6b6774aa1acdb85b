package site

import (
	"regexp"
	"slices"
)

// loginName is a user name that a command line and a sudoers file take as it is.
var loginName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\$?$`)

func (v *validator) ssh(s *Site) {
	r := s.Reach.SSH
	if r.ConfigFile == "" {
		v.require("reach.ssh.user", r.User, "root, or set reach.ssh.configFile")
		v.require("reach.ssh.knownHostsFile", r.KnownHostsFile, "known_hosts, made with ssh-keyscan and checked by a person, or set reach.ssh.configFile")
	}
	if r.User != "" && !loginName.MatchString(r.User) {
		v.add("reach.ssh.user", "invalid user name %q: use letters, digits, dot, dash and underscore", r.User)
	}
	v.sshFiles(r)
	switch {
	case r.Become != "" && r.Become != Sudo:
		v.add("reach.ssh.become", "%q is not %s", r.Become, Sudo)
	case r.Become == Sudo && r.User == "root":
		v.add("reach.ssh.become", "has no effect for user root: remove it, or log in as another user")
	}
	if r.Concurrency < 1 {
		v.add("reach.ssh.concurrency", "%d must be at least 1", r.Concurrency)
	}
	if r.ConnectTimeout > r.Timeout {
		v.add("reach.ssh.connectTimeout", "%s is longer than reach.ssh.timeout, %s, which includes it", r.ConnectTimeout.D(), r.Timeout.D())
	}
	if h := r.FabricHost; h != "" && !slices.ContainsFunc(s.Inventory.Nodes, func(n Node) bool { return n.Name == h }) {
		v.add("reach.ssh.fabricHost", "%q is not among inventory.nodes", h)
	}
}

func (v *validator) sshFiles(r SSH) {
	if r.IdentityFile != "" && len(r.IdentityFiles) > 0 {
		v.add("reach.ssh.identityFiles", "has no effect with reach.ssh.identityFile: keep one")
	}
	v.unique("reach.ssh.identityFiles", r.IdentityFiles)
	v.unique("reach.ssh.certificateFiles", r.CertificateFiles)
	if r.PassphraseFile != "" && len(r.Identities()) == 0 && r.ConfigFile == "" {
		v.add("reach.ssh.passphraseFile", "has no effect without a private key: set reach.ssh.identityFile too")
	}
}
