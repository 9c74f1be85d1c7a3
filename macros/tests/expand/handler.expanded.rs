impl<S: Store> ServerHandler for Server<S>
where
    S: Clone,
{
    async fn ping(&self, _context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }
    async fn call_tool(
        &self,
        request: ::mcp_tasks::private::rmcp::model::CallToolRequestParams,
        context: ::mcp_tasks::private::rmcp::service::RequestContext<
            ::mcp_tasks::private::rmcp::RoleServer,
        >,
    ) -> ::core::result::Result<
        ::mcp_tasks::private::rmcp::model::CallToolResponse,
        ::mcp_tasks::private::rmcp::ErrorData,
    > {
        ::mcp_tasks::private::handler::call_tool(
                &self.engine,
                <Server<S> as ::core::clone::Clone>::clone(self),
                request,
                context,
                |handler, request, context| {
                    ::std::boxed::Box::pin(async move {
                        handler.task_handler_call_tool(request, context).await
                    })
                },
            )
            .await
    }
    async fn list_tools(
        &self,
        request: ::core::option::Option<
            ::mcp_tasks::private::rmcp::model::PaginatedRequestParams,
        >,
        context: ::mcp_tasks::private::rmcp::service::RequestContext<
            ::mcp_tasks::private::rmcp::RoleServer,
        >,
    ) -> ::core::result::Result<
        ::mcp_tasks::private::rmcp::model::ListToolsResult,
        ::mcp_tasks::private::rmcp::ErrorData,
    > {
        self.task_handler_list_tools(request, context)
            .await
            .map(::mcp_tasks::private::handler::list_tools)
    }
    fn get_info(&self) -> ::mcp_tasks::private::rmcp::model::ServerConfig {
        ::mcp_tasks::private::handler::get_info(self, self.task_handler_get_info())
    }
    fn negotiate_initialize(
        &self,
        request: &::mcp_tasks::private::rmcp::model::InitializeRequestParams,
    ) -> ::core::result::Result<
        ::mcp_tasks::private::rmcp::model::InitializeResult,
        ::mcp_tasks::private::rmcp::ErrorData,
    > {
        let versions = ::mcp_tasks::private::rmcp::ServerHandler::supported_protocol_versions(
            self,
        );
        let config = ::mcp_tasks::private::rmcp::ServerHandler::get_info(self);
        ::mcp_tasks::private::handler::negotiate_initialize(config, versions, request)
    }
    async fn on_custom_request(
        &self,
        request: ::mcp_tasks::private::rmcp::model::CustomRequest,
        context: ::mcp_tasks::private::rmcp::service::RequestContext<
            ::mcp_tasks::private::rmcp::RoleServer,
        >,
    ) -> ::core::result::Result<
        ::mcp_tasks::private::rmcp::model::CustomResult,
        ::mcp_tasks::private::rmcp::ErrorData,
    > {
        ::mcp_tasks::private::handler::on_custom_request(
                &self.engine,
                request,
                context,
                ::mcp_tasks::private::handler::unknown_request,
            )
            .await
    }
    async fn get_task(
        &self,
        request: ::mcp_tasks::private::rmcp::model::GetTaskParams,
        context: ::mcp_tasks::private::rmcp::service::RequestContext<
            ::mcp_tasks::private::rmcp::RoleServer,
        >,
    ) -> ::core::result::Result<
        ::mcp_tasks::private::rmcp::model::GetTaskResult,
        ::mcp_tasks::private::rmcp::ErrorData,
    > {
        ::mcp_tasks::private::handler::get_task(&self.engine, request, context).await
    }
    async fn update_task(
        &self,
        request: ::mcp_tasks::private::rmcp::model::UpdateTaskParams,
        context: ::mcp_tasks::private::rmcp::service::RequestContext<
            ::mcp_tasks::private::rmcp::RoleServer,
        >,
    ) -> ::core::result::Result<(), ::mcp_tasks::private::rmcp::ErrorData> {
        ::mcp_tasks::private::handler::update_task(&self.engine, request, context).await
    }
    async fn cancel_task(
        &self,
        request: ::mcp_tasks::private::rmcp::model::CancelTaskParams,
        context: ::mcp_tasks::private::rmcp::service::RequestContext<
            ::mcp_tasks::private::rmcp::RoleServer,
        >,
    ) -> ::core::result::Result<(), ::mcp_tasks::private::rmcp::ErrorData> {
        ::mcp_tasks::private::handler::cancel_task(&self.engine, request, context).await
    }
}
impl<S: Store> ::mcp_tasks::handler::TaskHandler for Server<S>
where
    S: Clone,
{
    fn recover_tasks(&self) {
        ::mcp_tasks::private::handler::recover_tasks(
            &self.engine,
            self,
            |handler, request, context| {
                ::std::boxed::Box::pin(async move {
                    handler.task_handler_call_tool(request, context).await
                })
            },
        );
    }
}
#[doc(hidden)]
impl<S: Store> Server<S>
where
    S: Clone,
{
    async fn task_handler_call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.router.call(ToolCallContext::new(self, request, context)).await
    }
    async fn task_handler_list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::default())
    }
    fn task_handler_get_info(&self) -> ServerConfig {
        ServerConfig::default()
    }
}
