package interop

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	golangsdk "github.com/opentelekomcloud/gophertelekomcloud"
	"github.com/opentelekomcloud/gophertelekomcloud/openstack"
	"github.com/opentelekomcloud/gophertelekomcloud/openstack/compute/v2/extensions/availabilityzones"
	"github.com/opentelekomcloud/gophertelekomcloud/openstack/compute/v2/servers"
	"github.com/opentelekomcloud/gophertelekomcloud/openstack/ecs/v1/cloudservers"
	"github.com/opentelekomcloud/gophertelekomcloud/openstack/networking/v1/eips"
)

var region = golangsdk.EndpointOpts{Region: "eu-de"}

// gtcSign returns the Authorization header of the official signer. It reads the
// clock by itself, so the date is reached by an offset; a second may tick away in
// between, hence the loop.
func gtcSign(t *testing.T, v vector) string {
	t.Helper()
	date, err := time.Parse("20060102T150405Z", v.Date)
	if err != nil {
		t.Fatal(err)
	}
	body, err := hex.DecodeString(v.BodyHex)
	if err != nil {
		t.Fatal(err)
	}
	for try := 0; try < 20; try++ {
		request, err := http.NewRequest(v.Method, "https://"+v.Host+v.Target, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if len(body) == 0 {
			request.Body = nil
		}
		for _, header := range v.SignedHeaders {
			if !equalFold(header[0], "host") {
				request.Header.Set(header[0], header[1])
			}
		}
		golangsdk.Sign(request, golangsdk.SignOptions{
			AccessKey: v.AK, SecretKey: v.SK, RegionName: v.Region, ServiceName: v.Service,
			TimeOffsetInSeconds: time.Now().Unix() - date.Unix(),
		})
		if request.Header.Get("X-Sdk-Date") == v.Date {
			return request.Header.Get("Authorization")
		}
	}
	t.Fatal("the clock never stood still")
	return ""
}

func equalFold(a, b string) bool {
	return http.CanonicalHeaderKey(a) == http.CanonicalHeaderKey(b)
}

func TestInterop_02_signer_vectors_byte_equal(t *testing.T) {
	ours := ourHeaders(t)
	compared := 0
	for _, v := range vectors(t) {
		// 17: repeated keys, which this signer drops; 22: Host is not signed.
		if v.Number == 17 || v.Number == 22 {
			continue
		}
		if theirs := gtcSign(t, v); theirs != ours[v.Number] {
			t.Errorf("vector %d:\nours   %s\ntheirs %s", v.Number, ours[v.Number], theirs)
		}
		compared++
	}
	if compared != 23 {
		t.Errorf("compared %d vectors, not 23", compared)
	}
}

func TestInterop_02_defect_another_region(t *testing.T) {
	v := vectors(t)[0]
	v.Region = "eu-nl"
	if gtcSign(t, v) == ourHeaders(t)[v.Number] {
		t.Error("the region makes no difference")
	}
}

func aksk(s *simulator) golangsdk.AKSKAuthOptions {
	return golangsdk.AKSKAuthOptions{
		IdentityEndpoint: s.urls["iam"] + "/v3", AccessKey: accessKey, SecretKey: secretKey,
		ProjectName: "eu-de", Region: "eu-de",
	}
}

// readEverything builds each service client from the catalog and calls it once.
func readEverything(t *testing.T, provider *golangsdk.ProviderClient, id string) error {
	t.Helper()
	compute1, err := openstack.NewComputeV1(provider, region)
	if err != nil {
		return err
	}
	server, err := cloudservers.Get(compute1, id).Extract()
	if err != nil {
		return err
	}
	if server.Flavor.ID != "s3.large.2" || server.Status != "ACTIVE" {
		t.Errorf("server: %+v", server)
	}
	compute2, err := openstack.NewComputeV2(provider, region)
	if err != nil {
		return err
	}
	pages, err := servers.List(compute2, servers.ListOpts{Name: "node"}).AllPages()
	if err != nil {
		return err
	}
	listed, err := servers.ExtractServers(pages)
	if err != nil {
		return err
	}
	if len(listed) != 1 || listed[0].ID != id {
		t.Errorf("servers: %+v", listed)
	}
	if _, err := servers.Get(compute2, id).Extract(); err != nil {
		return err
	}
	zonePages, err := availabilityzones.List(compute2).AllPages()
	if err != nil {
		return err
	}
	zones, err := availabilityzones.ExtractAvailabilityZones(zonePages)
	if err != nil {
		return err
	}
	if len(zones) != 3 {
		t.Errorf("zones: %+v", zones)
	}
	network1, err := openstack.NewNetworkV1(provider, region)
	if err != nil {
		return err
	}
	addresses, err := eips.List(network1, eips.ListOpts{})
	if err != nil {
		return err
	}
	if len(addresses) != 1 || addresses[0].PortID == "" || addresses[0].BandwidthSize != 5 {
		t.Errorf("addresses: %+v", addresses)
	}
	_, err = eips.Get(network1, addresses[0].ID).Extract()
	return err
}

func TestInterop_29_aksk_by_project_name(t *testing.T) {
	s := start(t)
	id := s.addServer("node-1")
	provider, err := openstack.AuthenticatedClient(aksk(s))
	if err != nil {
		t.Fatal(err)
	}
	if err := readEverything(t, provider, id); err != nil {
		t.Fatal(err)
	}
	unsigned := 0
	for _, call := range s.calls() {
		if call.Status/100 != 2 {
			t.Errorf("%s: %d", call.Target, call.Status)
		}
		signed := call.Headers["Authorization"]
		if call.Headers["X-Project-Id"] != "" && !bytes.Contains([]byte(signed), []byte("x-project-id")) {
			unsigned++
		}
	}
	if unsigned == 0 {
		t.Error("no call with an unsigned X-Project-Id was seen")
	}
	// Services of later issues: at least their catalog entries serve.
	for _, build := range []func(*golangsdk.ProviderClient, golangsdk.EndpointOpts) (*golangsdk.ServiceClient, error){
		openstack.NewBlockStorageV2, openstack.NewBlockStorageV3, openstack.NewNetworkV2,
		openstack.NewELBV2, openstack.NewELBV3,
	} {
		if _, err := build(provider, region); err != nil {
			t.Errorf("client from the catalog: %v", err)
		}
	}
}

func TestInterop_29_defect_times_without_z(t *testing.T) {
	s := start(t, "--defect", "times-without-z")
	id := s.addServer("node-1")
	provider, err := openstack.AuthenticatedClient(aksk(s))
	if err != nil {
		t.Fatal(err)
	}
	if err := readEverything(t, provider, id); err == nil {
		t.Error("the client did not notice")
	}
}

func TestInterop_29_defect_flavor_numbers(t *testing.T) {
	s := start(t, "--defect", "flavor-numbers")
	id := s.addServer("node-1")
	provider, err := openstack.AuthenticatedClient(aksk(s))
	if err != nil {
		t.Fatal(err)
	}
	if err := readEverything(t, provider, id); err == nil {
		t.Error("the client did not notice")
	}
}

func TestInterop_30_domain_name_makes_project_calls_401(t *testing.T) {
	s := start(t)
	id := s.addServer("node-1")
	options := aksk(s)
	options.Domain = domainName
	provider, err := openstack.AuthenticatedClient(options)
	if err != nil {
		t.Fatal(err)
	}
	compute, err := openstack.NewComputeV1(provider, region)
	if err != nil {
		t.Fatal(err)
	}
	_, err = cloudservers.Get(compute, id).Extract()
	var refused golangsdk.ErrDefault401
	if !errors.As(err, &refused) {
		t.Fatalf("not a 401: %v", err)
	}
	if !bytes.Contains(refused.Body, []byte("badRequest")) {
		t.Errorf("body: %s", refused.Body)
	}
	last := s.calls()[len(s.calls())-1]
	if last.Headers["X-Domain-Id"] == "" || last.Headers["X-Project-Id"] != "" {
		t.Errorf("headers: %v", last.Headers)
	}
}

func TestInterop_31_temporary_key(t *testing.T) {
	s := start(t)
	id := s.addServer("node-1")
	s.control("POST", "load", `{"access_keys":[{"access":"ASIATEMP","secret":"temp","security_token":"tok=="}]}`)
	options := aksk(s)
	options.AccessKey, options.SecretKey, options.SecurityToken = "ASIATEMP", "temp", "tok=="
	provider, err := openstack.AuthenticatedClient(options)
	if err != nil {
		t.Fatal(err)
	}
	if err := readEverything(t, provider, id); err != nil {
		t.Error(err)
	}
}

func TestInterop_31_password_token(t *testing.T) {
	s := start(t)
	id := s.addServer("node-1")
	provider, err := openstack.AuthenticatedClient(golangsdk.AuthOptions{
		IdentityEndpoint: s.urls["iam"] + "/v3", Username: userName, Password: userPassword,
		DomainName: domainName, TenantName: "eu-de",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := readEverything(t, provider, id); err != nil {
		t.Error(err)
	}
	for _, call := range s.calls()[1:] {
		if call.Auth == "signature" {
			t.Errorf("signed: %s", call.Target)
		}
	}
}

// authority is an HTTP transport that trusts the simulator's own CA alone.
func authority(t *testing.T, directory string) *http.Transport {
	t.Helper()
	pem, err := os.ReadFile(filepath.Join(directory, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("ca.pem holds no certificate")
	}
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
}

func TestInterop_37_gtc_tls(t *testing.T) {
	directory := t.TempDir()
	s := start(t, "--tls-dir", directory)
	provider, err := openstack.NewClient(s.urls["iam"] + "/v3")
	if err != nil {
		t.Fatal(err)
	}
	provider.HTTPClient = http.Client{Transport: authority(t, directory)}
	if err := openstack.Authenticate(provider, aksk(s)); err != nil {
		t.Fatal(err)
	}
	bare, err := openstack.NewClient(s.urls["iam"] + "/v3")
	if err != nil {
		t.Fatal(err)
	}
	// Fail at once: this client repeats connection errors for ten minutes.
	retries := 0
	bare.MaxBackoffRetries = &retries
	err = openstack.Authenticate(bare, aksk(s))
	var unknown x509.UnknownAuthorityError
	if !errors.As(err, &unknown) {
		t.Errorf("not a handshake error: %v", err)
	}
}
