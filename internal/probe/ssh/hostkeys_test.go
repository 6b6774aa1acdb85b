package ssh_test

import (
	"testing"

	cryptossh "golang.org/x/crypto/ssh"
)

// A machine is known by its key: one that took another's name and address is another.
func TestKeysTellMachinesApart(t *testing.T) {
	t.Parallel()
	one, s := host(t, echo)
	other, _ := host(t, echo)
	want := cryptossh.FingerprintSHA256(one.hostKey)
	if got := pool(t, s).Keys(); len(got) != 1 || got["gpu-01"] != want || got["gpu-01"] == cryptossh.FingerprintSHA256(other.hostKey) {
		t.Errorf("keys %v, want %s", got, want)
	}
}
