// The entry of the bundle of third-party code: GraphiQL with its React, handed to site/graphiql.js by one
// global name.
import { createElement, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { getOperationAST, parse } from 'graphql';
import { GraphiQL } from 'graphiql';
import 'graphiql/graphiql.css';

window.GraphiQLBundle = { GraphiQL, createElement, createRoot, getOperationAST, parse, useState };
