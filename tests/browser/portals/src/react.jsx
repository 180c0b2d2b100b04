// A data portal as React developers write one: a router, a list from an API, a page for each data set.
import React, { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { BrowserRouter, Link, Route, Routes, useParams } from "react-router-dom";

const api = (path) => fetch(`/api/v1/${path}`).then((answer) => answer.json());

function Datasets() {
  const [datasets, setDatasets] = useState(null);
  useEffect(() => { api("datasets?page=1&size=50").then((found) => setDatasets(found.items)); }, []);
  if (datasets === null) return <p>Loading…</p>;
  return (
    <main>
      <h1>Open geodata of the county</h1>
      <ul>{datasets.map((each) => <li key={each.id}><Link to={`/dataset/${each.id}`}>{each.title}</Link></li>)}</ul>
    </main>
  );
}

function Dataset() {
  const { id } = useParams();
  const [dataset, setDataset] = useState(null);
  useEffect(() => { api(`datasets/${id}`).then(setDataset); }, [id]);
  if (dataset === null) return <p>Loading…</p>;
  return (
    <main>
      <h1>{dataset.title}</h1>
      <p>{dataset.abstract}</p>
      {dataset.distributions.map((each) => <p key={each.url}>{each.protocol}: <a href={each.url}>{each.url}</a></p>)}
      <Link to="/">All data</Link>
    </main>
  );
}

createRoot(document.getElementById("root")).render(
  <BrowserRouter>
    <Routes>
      <Route path="/" element={<Datasets />} />
      <Route path="/dataset/:id" element={<Dataset />} />
    </Routes>
  </BrowserRouter>,
);
