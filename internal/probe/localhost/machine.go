package localhost

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Machine identifies a machine.
type Machine struct {
	// ID is derived from the machine ID, which systemd keeps confidential: machine-id(5) asks for
	// a keyed hash of it, with a key of the application.
	ID string `json:"id"`
	// Name is the name of the host.
	Name string `json:"name"`
	// Vendor and Product are those of the firmware (DMI); empty where it has none.
	Vendor  string `json:"vendor,omitempty"`
	Product string `json:"product,omitempty"`
}

// application is the key of the machine ID.
const application = "firstlight.dev/machine"

// Identify identifies the machine whose file system is at root: "/" for this one.
func Identify(root string) (Machine, error) {
	raw, err := os.ReadFile(filepath.Join(root, "etc/machine-id"))
	if err != nil {
		return Machine{}, fmt.Errorf("read the machine ID: %w", err)
	}
	id, err := hex.DecodeString(strings.TrimSpace(string(raw)))
	if err != nil || len(id) != 16 {
		return Machine{}, errors.New("invalid machine ID in /etc/machine-id: must be 32 hexadecimal digits; systemd-machine-id-setup creates one")
	}
	mac := hmac.New(sha256.New, id)
	_, _ = mac.Write([]byte(application)) // never fails
	m := Machine{ID: hex.EncodeToString(mac.Sum(nil)[:16])}
	if m.Name, err = os.Hostname(); err != nil {
		return m, fmt.Errorf("read the name of the host: %w", err)
	}
	m.Vendor, m.Product = dmi(root, "sys_vendor"), dmi(root, "product_name")
	return m, nil
}

// dmi is a field of the firmware; empty if it cannot be read.
func dmi(root, field string) string {
	text, err := os.ReadFile(filepath.Join(root, "sys/class/dmi/id", field))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
