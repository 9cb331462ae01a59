// Package interop holds the official Go clients against otc-sim. Test names carry
// the numbers of the interop test list; "defect" in a name means: otc-sim is made
// wrong on purpose and the client must notice.
package interop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	accessKey    = "AKSIM000000000000001"
	secretKey    = "SkSim0123456789abcdefghijklmnopqrstuvwx1"
	projectID    = "0123456789abcdef0123456789abcdef"
	domainName   = "OTC00000000001000000001"
	userName     = "sim-user"
	userPassword = "sim-password"
)

type simulator struct {
	t    *testing.T
	urls map[string]string
}

type loggedCall struct {
	Operation string            `json:"operation"`
	Target    string            `json:"target"`
	Status    int               `json:"status"`
	Auth      string            `json:"auth"`
	Headers   map[string]string `json:"headers"`
}

// start runs otc-sim for one test; it is ended by its own pid afterwards.
func start(t *testing.T, arguments ...string) *simulator {
	t.Helper()
	log := filepath.Join(os.Getenv("INTEROP_LOGS"), t.Name()+".calls.jsonl")
	if err := os.Remove(log); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	command := exec.Command(os.Getenv("OTC_SIM"), append([]string{"--call-log", log}, arguments...)...)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatalf("otc-sim did not start: %v", err)
	}
	var started struct {
		URLs map[string]string `json:"urls"`
	}
	if err := json.Unmarshal(line, &started); err != nil {
		t.Fatal(err)
	}
	return &simulator{t: t, urls: started.URLs}
}

// control calls the control API and fails the test unless it says 200.
func (s *simulator) control(method, path, body string) string {
	s.t.Helper()
	request, err := http.NewRequest(method, s.urls["control"]+"/_sim/"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	client := http.Client{Timeout: 10 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		s.t.Fatalf("%s %s: %d %s %v", method, path, response.StatusCode, text, err)
	}
	return string(text)
}

func (s *simulator) addServer(name string) string {
	s.t.Helper()
	answer := s.control("POST", "servers", fmt.Sprintf(`{"name":%q,"public_ip":"auto"}`, name))
	var made struct {
		IDs []string `json:"ids"`
	}
	if err := json.Unmarshal([]byte(answer), &made); err != nil {
		s.t.Fatal(err)
	}
	return made.IDs[0]
}

func (s *simulator) calls() []loggedCall {
	s.t.Helper()
	var calls []loggedCall
	decoder := json.NewDecoder(bytes.NewReader([]byte(s.control("GET", "calls", ""))))
	for decoder.More() {
		var call loggedCall
		if err := decoder.Decode(&call); err != nil {
			s.t.Fatal(err)
		}
		calls = append(calls, call)
	}
	return calls
}

type vector struct {
	Number        int         `json:"number"`
	Form          string      `json:"form"`
	Region        string      `json:"region"`
	Service       string      `json:"service"`
	AK            string      `json:"ak"`
	SK            string      `json:"sk"`
	Date          string      `json:"date"`
	Authorization string      `json:"authorization"`
	Method        string      `json:"method"`
	Host          string      `json:"host"`
	Target        string      `json:"target"`
	SignedHeaders [][2]string `json:"signed_headers"`
	BodyHex       string      `json:"body_hex"`
}

func vectors(t *testing.T) []vector {
	t.Helper()
	text, err := os.ReadFile(os.Getenv("SIGNING_VECTORS"))
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// ourHeaders: what our signer made of each vector, Credential form, by number.
func ourHeaders(t *testing.T) map[int]string {
	t.Helper()
	text, err := os.ReadFile(os.Getenv("SIGNER_DUMP"))
	if err != nil {
		t.Fatal(err)
	}
	headers := map[int]string{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	for decoder.More() {
		var entry struct {
			Number     int    `json:"number"`
			Credential string `json:"credential"`
		}
		if err := decoder.Decode(&entry); err != nil {
			t.Fatal(err)
		}
		headers[entry.Number] = entry.Credential
	}
	return headers
}
